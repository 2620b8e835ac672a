"""The replicas of a scenario over time: given as counts or as a list, added, warmed up and stopped."""

from collections.abc import Iterable
from dataclasses import dataclass

from scaling.replicas.ages import is_over
from scaling.replicas.deployment import Deployment
from scaling.replicas.replica import Replica, ReplicaClass, classify, since
from scaling.scenarios.replica_scenario import CountedReplicas, ListedReplicas

# Counted replicas have been there for long; a step keeps them in the order of their numbers.
_LONG_AGO_SECONDS = 1e6
_STEP_SECONDS = 1e-6


@dataclass(frozen=True, slots=True)
class SimulatedReplica:
    """One replica: as given, then healthy from `warm_at` on; `check_age` is its check's age at every tick.

    `is_declared`: given by a count, so its class is what the count says, whatever bore its id before.
    """

    given: Replica
    check_age: float | None
    warm_at: float | None = None
    is_declared: bool = False

    def seen_at(self, now: float, seen_healthy: frozenset[str]) -> Replica:
        """How the Gateway lists it at a tick."""
        given = self.given
        if self.warm_at is not None and is_over(self.warm_at, now):
            return Replica(given.id, "running", True, given.created, now, True)
        was_healthy = given.was_healthy or (given.id in seen_healthy and not self.is_declared)
        checked = None if self.check_age is None else now - self.check_age
        return Replica(given.id, given.status, given.healthy, given.created, checked, was_healthy)


class SimulatedFleet:
    """The replicas of one `replicas` block; what is added and stopped later changes it."""

    def __init__(self, replicas: Iterable[SimulatedReplica]) -> None:
        self._replicas = {replica.given.id: replica for replica in replicas}

    def __contains__(self, replica_id: str) -> bool:
        return replica_id in self._replicas

    def seen_at(self, now: float, seen_healthy: frozenset[str]) -> list[Replica]:
        """The list the Gateway would give."""
        return [replica.seen_at(now, seen_healthy) for replica in self._replicas.values()]

    def add(self, ids: Iterable[str], now: float, warmup_seconds: float) -> None:
        """Replicas that were asked for and start to warm up now."""
        for order, replica_id in enumerate(ids):
            given = Replica(replica_id, "pending", created=now - _STEP_SECONDS / (order + 1))
            self._replicas[replica_id] = SimulatedReplica(given, None, warm_at=now + warmup_seconds)

    def stop(self, ids: Iterable[str]) -> None:
        """Replicas that were told to stop are gone."""
        for replica_id in ids:
            self._replicas.pop(replica_id, None)


def make_fleet(
    block: CountedReplicas | ListedReplicas,
    at: float,
    warmup_seconds: float,
    deployment: Deployment,
    seen_healthy: frozenset[str],
) -> SimulatedFleet:
    """The fleet of a block that holds from `at` (seconds): its warming ones start to warm up then."""
    if isinstance(block, CountedReplicas):
        return SimulatedFleet(_counted(block, at, warmup_seconds))
    return SimulatedFleet(_listed(replica, at, warmup_seconds, deployment, seen_healthy) for replica in block.replicas)


def _counted(block: CountedReplicas, at: float, warmup_seconds: float) -> Iterable[SimulatedReplica]:
    long_ago = at - _LONG_AGO_SECONDS
    for number in range(1, block.healthy + 1):
        replica = Replica(f"healthy-{number}", healthy=True, created=long_ago + number)
        yield SimulatedReplica(replica, check_age=0, is_declared=True)
    for number in range(1, block.warming + 1):
        replica = Replica(f"warming-{number}", "pending", created=at - _STEP_SECONDS / number)
        yield SimulatedReplica(replica, None, warm_at=at + warmup_seconds, is_declared=True)
    for number in range(1, block.unhealthy + 1):
        replica = Replica(f"unhealthy-{number}", created=long_ago + number)
        yield SimulatedReplica(replica, check_age=0, is_declared=True)
    for number in range(1, block.failed + 1):
        replica = Replica(f"failed-{number}", "failed", created=long_ago + number)
        yield SimulatedReplica(replica, check_age=0, is_declared=True)


def _listed(
    replica: Replica, at: float, warmup_seconds: float, deployment: Deployment, seen_healthy: frozenset[str]
) -> SimulatedReplica:
    checked = replica.last_health_check
    simulated = SimulatedReplica(replica, None if checked is None else max(0.0, at - checked))
    is_warming = classify(simulated.seen_at(at, seen_healthy), since(deployment, at)) is ReplicaClass.WARMING
    warm_at = at + warmup_seconds if is_warming else None
    return SimulatedReplica(replica, simulated.check_age, warm_at)
