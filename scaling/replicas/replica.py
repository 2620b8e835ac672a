"""Replicas and their classes: the first rule that applies decides what a replica counts for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from scaling.replicas.ages import not_older_from, younger_after
from scaling.replicas.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica as the Gateway lists it; times in seconds, None where the Gateway gives none.

    `status` is in lower case. `was_healthy`: known to have been healthy before, from any earlier list.
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


@dataclass(frozen=True, slots=True)
class Since:
    """The times that decide at one moment: a check from `fresh` on is believed, one made after `young` is new."""

    fresh: float
    young: float


def since(deployment: Deployment, now: float) -> Since:
    """A check of exactly the threshold's age still counts, a replica of exactly the grace's age is old."""
    return Since(
        fresh=not_older_from(deployment.health_check_seconds, now),
        young=younger_after(deployment.health_grace_seconds, now),
    )


def _is_healthy(replica: Replica, times: Since) -> bool:
    checked = replica.last_health_check
    return replica.healthy and checked is not None and checked >= times.fresh


def _is_warming(replica: Replica, times: Since) -> bool:
    created = replica.created
    return created is not None and created > times.young and not replica.was_healthy


STATUS_CLASSES: Mapping[str, ReplicaClass] = MappingProxyType(
    {
        "failed": ReplicaClass.FAILED,
        "crashed": ReplicaClass.FAILED,
        "stopping": ReplicaClass.DRAINING,
        "stopped": ReplicaClass.DRAINING,
        "terminating": ReplicaClass.DRAINING,
    }
)
"""Statuses that decide alone: such a replica is out of service, whatever its health check says."""

HEALTH_CLASSES: tuple[tuple[ReplicaClass, Callable[[Replica, Since], bool]], ...] = (
    (ReplicaClass.HEALTHY, _is_healthy),
    (ReplicaClass.WARMING, _is_warming),
)
"""With any other status: the first whose rule applies; the rest are unhealthy."""


def classify(replica: Replica, times: Since) -> ReplicaClass:
    """The class of one replica."""
    by_status = STATUS_CLASSES.get(replica.status)
    if by_status is not None:
        return by_status
    for name, applies in HEALTH_CLASSES:
        if applies(replica, times):
            return name
    return ReplicaClass.UNHEALTHY


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
    times = since(deployment, now)
    ranked = [(_seniority(replica, now), replica.id, classify(replica, times)) for replica in replicas]
    ranked.sort()
    ids: dict[ReplicaClass, list[str]] = {name: [] for name in ReplicaClass}
    for _, replica_id, name in ranked:
        ids[name].append(replica_id)
    return Roster(
        healthy=tuple(ids[ReplicaClass.HEALTHY]),
        warming=tuple(ids[ReplicaClass.WARMING]),
        unhealthy=tuple(ids[ReplicaClass.UNHEALTHY]),
        failed=tuple(ids[ReplicaClass.FAILED]),
        draining=tuple(ids[ReplicaClass.DRAINING]),
        asked=asked,
    )


def _seniority(replica: Replica, now: float) -> float:
    """The smallest is the oldest; a missing `created` is old, one in the future reads as now."""
    created = replica.created
    return float("-inf") if created is None else min(created, now)
