"""A deployment as its row of the list, its page and its acts show it: figures beside targets, bars, last change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from iris_web.pages import words
from iris_web.pages.deployment_states import Doing, code_of, doing_of, held_by
from scaling.models import Deployment, ReplicaDecision
from scaling.operations.deployment_fields import in_force
from scaling.replicas.metrics import SLACK

# How far back the list looks for the last change of a deployment.
RECENT = timedelta(hours=24)
# Figures are older than they should be after this many ticks, and at least so many seconds.
STALE_TICKS, STALE_SECONDS = 4, 30.0
# Read for the rows of a page alone; what a deployment's own page shows besides is large.
_HEAVY = ("scaler__memory", "scaler__pending", "scaler__replicas")


@dataclass(frozen=True, slots=True)
class LastChange:
    """The latest tick that added or stopped replicas."""

    at: datetime
    add: int
    stop: int
    action_id: int | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric beside its target; `ratio` is what the decision made of them, `over` that it is beyond tolerance."""

    value: float | None
    target: float | None
    ratio: float | None
    over: bool

    @property
    def percent(self) -> int:
        """Of a bar whose whole length is twice the target."""
        return min(100, round(50 * self.ratio)) if self.ratio is not None else 0

    @property
    def tone(self) -> str:
        return "warn" if self.over else "good"


@dataclass(frozen=True, slots=True)
class DeploymentRow:
    """A deployment as the list and its own page's head show it."""

    row: Deployment
    doing: Doing
    now: datetime
    last: LastChange | None = None

    @property
    def id(self) -> str:
        return self.row.deployment_id

    @property
    def code(self) -> str:
        return code_of(self.doing)

    @property
    def held(self) -> str:
        return held_by(self.doing)

    @property
    def latest(self) -> Mapping[str, Any]:
        """Its scaler's picture of the latest tick."""
        scaler = getattr(self.row, "scaler", None)
        return scaler.latest if scaler else {}

    @property
    def until(self) -> datetime | None:
        """When what holds it lets go, where that is known and still to come."""
        at = words.moment(self.latest.get("next_possible_at"))
        return at if self.doing.assigned and at is not None and at > self.now else None

    @property
    def last_request_at(self) -> datetime | None:
        """As the latest tick was told; the row itself is written seldom."""
        return words.moment(self.latest.get("last_request_at")) or self.row.last_request_at

    @property
    def missing_since(self) -> datetime | None:
        if self.latest.get("healthy") == 0:
            return None
        return words.moment(self.latest.get("metrics_missing_since"))

    @property
    def low(self) -> int:
        return int(in_force(self.row, "min_replicas"))

    @property
    def high(self) -> int:
        return int(in_force(self.row, "max_replicas"))

    @property
    def latency(self) -> Measure:
        return self._measure(self.doing.latency_ratio, self.latest.get("p95_ms"), "target_latency_p95_ms")

    @property
    def per_replica(self) -> Measure:
        total = self.latest.get("rps")
        value = total / self.healthy if isinstance(total, int | float) and self.healthy else None
        return self._measure(self.doing.rps_ratio, value, "target_rps")

    def _measure(self, ratio: float | None, value: Any, target_name: str) -> Measure:
        over = ratio is not None and ratio > 1 + self.doing.tolerance + SLACK
        return Measure(value if isinstance(value, int | float) else None, in_force(self.row, target_name) or None,
                       ratio, over)  # fmt: skip

    @property
    def healthy(self) -> int:
        return self.doing.healthy or 0

    @property
    def warming(self) -> int:
        return self.doing.warming or 0

    @property
    def sick(self) -> int:
        return (self.latest.get("unhealthy") or 0) + (self.latest.get("failed") or 0)

    @property
    def bars(self) -> list[tuple[str, int]]:
        """(part, width in percent of the maximum, or of what is there where that is more)."""
        parts = (("serving", self.healthy), ("booting", self.warming), ("sick", self.sick))
        whole = max(self.high, self.healthy + self.warming + self.sick, 1)
        return [(name, max(2, round(100 * number / whole))) for name, number in parts if number]

    @property
    def ticked_at(self) -> datetime | None:
        scaler = getattr(self.row, "scaler", None)
        return scaler.ticked_at if scaler else None

    @property
    def stale(self) -> bool:
        """Whether its figures are older than a few ticks."""
        return self.ticked_at is not None and (self.now - self.ticked_at).total_seconds() > stale_after_seconds()


def stale_after_seconds() -> float:
    return max(STALE_SECONDS, STALE_TICKS * float(settings.LYC.heartbeat_interval_seconds))


def rows_of(pks: list[int], now: datetime) -> list[DeploymentRow]:
    """These deployments with their scalers and last changes, in this order. Three queries."""
    found = {row.pk: row for row in Deployment.objects.select_related("scaler").defer(*_HEAVY).filter(pk__in=pks)}
    changes = last_changes(pks, now)
    rows = [found[pk] for pk in pks if pk in found]
    return [DeploymentRow(row, doing_of(row, now), now, changes.get(row.pk)) for row in rows]


def last_changes(pks: list[int], now: datetime) -> Mapping[int, LastChange]:
    """The latest decision within RECENT that added or stopped replicas, by deployment. Two queries.

    The first decision of that time bounds the second query by id, so that no older one of a deployment is looked at.
    """
    recent = ReplicaDecision.objects.filter(at__gte=now - RECENT).order_by("at").values_list("id", flat=True).first()
    if recent is None:
        return {}
    rows = (
        ReplicaDecision.objects.filter(deployment__in=pks, id__gte=recent)
        .filter(Q(add__gt=0) | Q(stop__gt=0))
        .order_by("id")
        .values_list("deployment", "at", "add", "stop", "action_id")
    )
    return {int(pk): LastChange(at, add, stop, action) for pk, at, add, stop, action in rows}
