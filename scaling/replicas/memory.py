"""What a scaler remembers between ticks; stored, so a restart or another leader neither forgets nor repeats."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from scaling.replicas.ages import age_seconds
from scaling.replicas.window import WindowEntry

ASKED_SECONDS = 60.0


class ZeroBy(StrEnum):
    """Who brought a deployment to zero."""

    OPERATOR = "operator"
    LIFECYCLE = "lifecycle"


@dataclass(frozen=True, slots=True)
class Asked:
    """Replicas asked for at `at`; `known` are the ids that were there before them."""

    at: float
    count: int
    known: frozenset[str]


@dataclass(frozen=True, slots=True)
class ScalerMemory:
    """The state of one deployment's scaler; times in seconds, None where it never happened or is unknown.

    `window` None is first sight, an empty one is known and drained. `metrics_missing_since` is the first of
    the latest ticks in a row in which nothing was known of the load.
    """

    last_scale_at: float | None = None
    window: tuple[WindowEntry, ...] | None = None
    asked: tuple[Asked, ...] = ()
    zero_by: ZeroBy | None = None
    first_healthy_at: float | None = None
    metrics_missing_since: float | None = None


def not_yet_listed(asked: Iterable[Asked], listed: frozenset[str], now: float) -> int:
    """How many replicas were asked for less than 60 s ago and are not among the listed ids.

    An id that was not there when a call was made stands for one of the call's replicas; the latest call, whose
    ids are the fewest, is served first, so that no id stands for two.
    """
    taken: set[str] = set()
    missing = 0
    for call in sorted(asked, key=lambda call: call.at, reverse=True):
        if age_seconds(call.at, now) >= ASKED_SECONDS:
            continue
        arrived = sorted(listed - call.known - taken)[: call.count]
        taken.update(arrived)
        missing += call.count - len(arrived)
    return missing


def settle(asked: Iterable[Asked], ended: Iterable[str], now: float) -> tuple[Asked, ...]:
    """The calls still waited for, without replicas that came and have ended (failed, leaving, told to stop).

    Without this a replica that came, failed and was cleared away would be waited for again.
    """
    calls = [call for call in asked if age_seconds(call.at, now) < ASKED_SECONDS]
    for replica_id in ended:
        calls = _settle_one(calls, replica_id)
    return tuple(call for call in calls if call.count > 0)


def _settle_one(calls: list[Asked], replica_id: str) -> list[Asked]:
    latest = max(
        (call for call in calls if replica_id not in call.known and call.count > 0),
        key=lambda call: call.at,
        default=None,
    )
    return [replace(call, count=call.count - (call is latest), known=call.known | {replica_id}) for call in calls]
