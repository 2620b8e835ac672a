"""Replicas and their classes: the first rule that applies decides what a replica counts for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from scaling.replicas.ages import age_seconds
from scaling.replicas.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica as the Gateway lists it; times in seconds, None where the Gateway gives none.

    `was_healthy`: known to have been healthy before, from any earlier list.
    """

    id: str
    status: str = "running"
    healthy: bool = False
    created: float | None = None
    last_health_check: float | None = None
    was_healthy: bool = False


class ReplicaClass(StrEnum):
    """What a replica counts for."""

    FAILED = "failed"
    DRAINING = "draining"
    HEALTHY = "healthy"
    WARMING = "warming"
    UNHEALTHY = "unhealthy"


FAILED_STATUSES = frozenset({"failed", "crashed"})
DRAINING_STATUSES = frozenset({"stopping", "stopped", "terminating"})

Rule = Callable[[Replica, Deployment, float], bool]


def is_fresh(replica: Replica, check_seconds: float, now: float) -> bool:
    """Whether the last health check is young enough to be believed; exactly `check_seconds` old still is."""
    checked = replica.last_health_check
    return checked is not None and age_seconds(checked, now) <= check_seconds


def _is_healthy(replica: Replica, deployment: Deployment, now: float) -> bool:
    return replica.healthy and is_fresh(replica, deployment.health_check_seconds, now)


def _is_warming(replica: Replica, deployment: Deployment, now: float) -> bool:
    if replica.was_healthy or replica.created is None:
        return False
    return age_seconds(replica.created, now) < deployment.health_grace_seconds


CLASSES: tuple[tuple[ReplicaClass, Rule], ...] = (
    (ReplicaClass.FAILED, lambda replica, _d, _now: replica.status in FAILED_STATUSES),
    (ReplicaClass.DRAINING, lambda replica, _d, _now: replica.status in DRAINING_STATUSES),
    (ReplicaClass.HEALTHY, _is_healthy),
    (ReplicaClass.WARMING, _is_warming),
    (ReplicaClass.UNHEALTHY, lambda _replica, _d, _now: True),
)


def classify(replica: Replica, deployment: Deployment, now: float) -> ReplicaClass:
    """The class of one replica: the first of `CLASSES` whose rule applies."""
    return next(name for name, applies in CLASSES if applies(replica, deployment, now))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many replicas of each class; `warming` includes those asked for and not yet listed."""

    healthy: int
    warming: int
    unhealthy: int
    failed: int


@dataclass(frozen=True, slots=True)
class Roster:
    """The replicas of one deployment by class, ids oldest first; `asked` are bought and not yet listed."""

    healthy: tuple[str, ...]
    warming: tuple[str, ...]
    unhealthy: tuple[str, ...]
    failed: tuple[str, ...]
    draining: tuple[str, ...]
    asked: int

    @property
    def counts(self) -> Counts:
        return Counts(
            healthy=len(self.healthy),
            warming=len(self.warming) + self.asked,
            unhealthy=len(self.unhealthy),
            failed=len(self.failed),
        )


def muster(replicas: Iterable[Replica], deployment: Deployment, now: float, asked: int = 0) -> Roster:
    """Sort a list of replicas, in any order, into its classes, oldest first (created, then id)."""
    ids: dict[ReplicaClass, list[str]] = {name: [] for name in ReplicaClass}
    for replica in sorted(replicas, key=lambda replica: _seniority(replica, now)):
        ids[classify(replica, deployment, now)].append(replica.id)
    return Roster(**{name.value: tuple(found) for name, found in ids.items()}, asked=asked)


def _seniority(replica: Replica, now: float) -> tuple[float, str]:
    """Sorts the oldest first; a missing `created` is old, one in the future reads as now."""
    created = replica.created
    return (float("-inf") if created is None else min(created, now), replica.id)
