"""The fleet over time: replicas start, warm up, share the load, fail, go stale, leave. Pure, the same by seed."""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from scaling.testing.fleet.histogram import EMPTY, Counters, added, observed
from scaling.testing.fleet.spec import DeploymentSpec


class ReplicaStatus(StrEnum):
    """As the Gateway lists it."""

    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"
    FAILED = "failed"


class Spell(StrEnum):
    """What a test may do to a replica."""

    FAIL = "fail"
    UNHEALTHY = "unhealthy"
    STALE = "stale"
    HEAL = "heal"


@dataclass(slots=True)
class FleetReplica:
    """One replica; times in seconds on the fleet's axis. `counters` are those of its own histogram.

    `address` (host:port) and `pid` are its process's, where it is one; `hangs` while that does not answer.
    """

    id: str
    created: float
    warm_at: float
    status: ReplicaStatus = ReplicaStatus.PENDING
    healthy: bool = False
    last_health_check: float | None = None
    leaves_at: float | None = None
    is_stale: bool = False
    is_sick: bool = False
    hangs: bool = False
    address: str = ""
    pid: int = 0
    counters: Counters = EMPTY
    latency_sum_ms: float = 0.0

    @property
    def serves(self) -> bool:
        """Whether requests go to it; to a sick one they do not, to a stale one they do."""
        return self.status is ReplicaStatus.RUNNING and self.healthy


@dataclass(slots=True)
class FleetDeployment:
    """One deployment with its replicas by id, and the counters of all it ever had."""

    spec: DeploymentSpec
    replicas: dict[str, FleetReplica] = field(default_factory=dict)
    last_request_at: float | None = None
    next_number: int = 1
    counters: Counters = EMPTY
    felt_rps: float = 0.0


class UnknownDeployment(LookupError):
    """There is no deployment of that id."""


def smoothed(before: float, latest: float, seconds: float, felt_seconds: float) -> float:
    """The load that replicas feel after `seconds` of `latest`: what came just before is still being served."""
    return latest + (before - latest) * math.exp(-seconds / felt_seconds)


class Fleet:
    """All deployments. `advance` moves it to a time; `began` is when the load began."""

    def __init__(self, specs: Iterable[DeploymentSpec], began: float, seed: int = 0) -> None:
        self.began = began
        self.at = began
        self.deployments = {spec.id: FleetDeployment(spec) for spec in specs}
        self._chance = random.Random(seed)
        self.checker_is_down = False

    def find(self, deployment_id: str) -> FleetDeployment:
        """Raises UnknownDeployment."""
        try:
            return self.deployments[deployment_id]
        except KeyError:
            raise UnknownDeployment(f"no deployment {deployment_id!r}") from None

    def scale(self, deployment_id: str, add: int, stop: Sequence[str]) -> list[str]:
        """Start and stop replicas now; returns the ids of the new ones. Ids that are not there are passed over."""
        deployment = self.find(deployment_id)
        for replica_id in stop:
            self._stop(deployment, replica_id)
        return [self._start(deployment) for _ in range(add)]

    def cast(self, deployment_id: str, replica_id: str, spell: Spell) -> bool:
        """Do something to one replica; false when it is not there."""
        replica = self.find(deployment_id).replicas.get(replica_id)
        if replica is None:
            return False
        match spell:
            case Spell.FAIL:
                self.fail(replica)
            case Spell.UNHEALTHY:
                replica.is_sick = True
            case Spell.STALE:
                replica.is_stale = True
            case Spell.HEAL:
                replica.is_sick = replica.is_stale = False
        return True

    @staticmethod
    def fail(replica: FleetReplica) -> None:
        """It is gone, and stays listed as failed until it is stopped."""
        replica.status, replica.healthy = ReplicaStatus.FAILED, False

    def advance(self, now: float) -> None:
        """Let the time since the last call pass."""
        if now <= self.at:
            return
        before, self.at = self.at, now
        for deployment in self.deployments.values():
            self._pass_time(deployment, before)
            self._serve(deployment, before)

    def _start(self, deployment: FleetDeployment) -> str:
        replica_id = f"{deployment.spec.id}-{deployment.next_number}"
        deployment.next_number += 1
        warm_at = self.at + deployment.spec.behaviour.warmup_seconds
        deployment.replicas[replica_id] = FleetReplica(replica_id, self.at, warm_at)
        return replica_id

    def _stop(self, deployment: FleetDeployment, replica_id: str) -> None:
        replica = deployment.replicas.get(replica_id)
        if replica is None or replica.leaves_at is not None:
            return
        is_gone = replica.status is ReplicaStatus.FAILED
        replica.status, replica.healthy = ReplicaStatus.STOPPING, False
        replica.leaves_at = self.at + (0 if is_gone else deployment.spec.behaviour.drain_seconds)

    def _pass_time(self, deployment: FleetDeployment, before: float) -> None:
        """Replicas leave, fail, warm up and are checked."""
        behaviour, now = deployment.spec.behaviour, self.at
        gone = [it.id for it in deployment.replicas.values() if it.leaves_at is not None and it.leaves_at <= now]
        for replica_id in gone:
            del deployment.replicas[replica_id]
        for replica in deployment.replicas.values():
            if replica.status is ReplicaStatus.PENDING and replica.warm_at <= now:
                replica.status = ReplicaStatus.RUNNING
            if replica.status is not ReplicaStatus.RUNNING:
                continue
            every = behaviour.fails_every_seconds
            if every > 0 and self._chance.random() < (now - before) / every:
                self.fail(replica)
            elif not (replica.is_stale or replica.hangs or self.checker_is_down):
                replica.healthy, replica.last_health_check = not replica.is_sick, now

    def _serve(self, deployment: FleetDeployment, before: float) -> None:
        """Share what came since `before` among the replicas that serve."""
        spec, now = deployment.spec, self.at
        requests = spec.load.arrivals(before - self.began, now - self.began)
        if requests:
            deployment.last_request_at = now
        seconds = now - before
        deployment.felt_rps = smoothed(deployment.felt_rps, requests / seconds, seconds, spec.behaviour.felt_seconds)
        serving = [replica for replica in deployment.replicas.values() if replica.serves]
        if not serving or not requests:
            return
        share, rest = divmod(requests, len(serving))
        shares = spec.replica.shares(deployment.felt_rps / len(serving))
        median = spec.replica.median_ms(deployment.felt_rps / len(serving))
        for index, replica in enumerate(serving):
            counted = observed(share + (index < rest), shares, self._chance.random())
            replica.counters = added(replica.counters, counted)
            replica.latency_sum_ms += median * counted[-1]
            deployment.counters = added(deployment.counters, counted)
