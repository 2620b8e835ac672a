"""The conditions that are told, each a row of a table."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class NoticeKind(StrEnum):
    STOCKOUT = "stockout"
    DEMAND = "demand_unsatisfied"
    LOOP = "loop_stalled"
    PLATFORM = "platform_unreachable"
    PROMETHEUS = "prometheus_unreachable"
    GATEWAY = "gateway_unreachable"


@dataclass(frozen=True, slots=True)
class Condition:
    """`label` names it in forms and lists; `page` is where more stands; `hold`: how long it must last to be told."""

    label: str
    help: str
    page: str
    hold: timedelta = timedelta(0)


# A source may miss a tick, and a loop a round: only what lasts is news.
CONDITIONS: dict[NoticeKind, Condition] = {
    NoticeKind.STOCKOUT: Condition("New stock-out", "A group's device cannot be bought.", "/stockouts/"),
    NoticeKind.DEMAND: Condition("Demand unsatisfied", "Jobs wait longer than the set time.", "/demand/?order=oldest"),
    NoticeKind.LOOP: Condition("Loop stalled", "A loop ends no rounds, or none without an error.", "/settings/#loops"),
    NoticeKind.PLATFORM: Condition("Platform unreachable", "A platform cannot be listed.", "/settings/#platforms"),
    NoticeKind.PROMETHEUS: Condition(
        "Prometheus unreachable", "Replicas are not scaled by load.", "/settings/#sources", timedelta(seconds=30)
    ),
    NoticeKind.GATEWAY: Condition(
        "Gateway unreachable", "Deployments cannot be read.", "/settings/#sources", timedelta(seconds=30)
    ),
}
# A loop whose every round fails is told after this; one that ends none has been silent for longer already.
FAILING_HOLD = timedelta(minutes=2)
