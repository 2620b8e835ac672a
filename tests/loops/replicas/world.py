"""A small world for the replica loops: a Gateway and metrics in memory, scripted by each test; no network."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from scaling.clock import FrozenClock
from scaling.loops.replicas import lifecycle, manager, scaler, syncer
from scaling.models import Deployment, Instance, ReplicaDecision, Scaler
from scaling.replicas.decision import Outcome
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica
from scaling.sources.gateway import (
    FleetList,
    GatewayError,
    GatewayUnreachable,
    ListedDeployment,
    ScaleAnswer,
    ScaleCall,
)
from scaling.sources.prometheus import MetricsAnswer


def listed(id_: str, *, low: int = 1, high: int = 10, rps: float | None = 10, **other: object) -> ListedDeployment:
    """A deployment as the Gateway lists it, without replicas."""
    blank = ListedDeployment(id_, id_, "running", low, high, None, rps, None, None, None, None, None, ())
    return replace(blank, **other)  # type: ignore[arg-type]


@dataclass
class World:
    """What the fakes hold. `load` is each deployment's total requests per second, None = no data."""

    clock: FrozenClock
    deployments: dict[str, ListedDeployment] = field(default_factory=dict)
    load: dict[str, float | None] = field(default_factory=dict)
    calls: list[ScaleCall] = field(default_factory=list)
    gateway_error: GatewayError | None = None
    prometheus_down: bool = False
    answer: Outcome = Outcome.OK
    shown: bool = True
    on_call: object = None
    buckets_asked: int = 0
    last_bucket: float | None = 5000.0
    # Replicas that nobody checks any more.
    unchecked: set[str] = field(default_factory=set)
    _made: int = 0

    @property
    def now(self) -> float:
        return self.clock().timestamp()

    def deploy(self, id_: str, healthy: int = 1, **settings: object) -> None:
        """List a deployment with so many replicas that are old and well."""
        old = tuple(self._replica(f"{id_}-{n}", healthy=True, age=7200 - n) for n in range(healthy))
        self.deployments[id_] = replace(listed(id_, **settings), replicas=old)  # type: ignore[arg-type]
        self.load.setdefault(id_, 10.0 * healthy)

    def _replica(self, id_: str, healthy: bool, age: float) -> Replica:
        return Replica(id_, "running", healthy, self.now - age, self.now if healthy else None)

    def replicas(self, id_: str) -> tuple[Replica, ...]:
        return self.deployments[id_].replicas or ()

    def change(self, id_: str, **changes: object) -> None:
        self.deployments[id_] = replace(self.deployments[id_], **changes)  # type: ignore[arg-type]

    def warm(self, id_: str) -> None:
        """Every replica of it turns healthy."""
        new = tuple(replace(one, healthy=True, last_health_check=self.now) for one in self.replicas(id_))
        self.change(id_, replicas=new)

    def fail(self, id_: str, *replicas: str, status: str = "failed") -> None:
        new = [replace(one, status=status) if one.id in replicas else one for one in self.replicas(id_)]
        self.change(id_, replicas=tuple(new))

    # The Gateway's side.
    def fleet(self, deadline_seconds: float) -> FleetList:
        if self.gateway_error is not None:
            raise self.gateway_error
        checked = []
        for one in self.deployments.values():
            fresh = tuple(self._checked(r) for r in one.replicas or ())
            checked.append(replace(one, replicas=None if one.replicas is None else fresh))
        return FleetList(tuple(checked), ())

    def _checked(self, replica: Replica) -> Replica:
        checked = replica.healthy and replica.id not in self.unchecked
        return replace(replica, last_health_check=self.now) if checked else replica

    def scale_all(self, calls: Sequence[ScaleCall], deadline_seconds: float) -> list[ScaleAnswer]:
        self.calls += calls
        if callable(self.on_call):
            self.on_call()
        if self.answer is Outcome.OK:
            for call in calls:
                self._carry_out(call)
        return [ScaleAnswer(call, self.answer, f"said {self.answer}", 0.01) for call in calls]

    def _carry_out(self, call: ScaleCall) -> None:
        stay = [one for one in self.replicas(call.deployment_id) if one.id not in call.replica_ids_to_stop]
        for _ in range(call.replicas_to_add if self.shown else 0):
            self._made += 1
            stay.append(self._replica(f"{call.deployment_id}-new-{self._made}", healthy=False, age=0))
        self.change(call.deployment_id, replicas=tuple(stay))

    # Prometheus' side.
    def read(self, ids: Collection[str], now: float, deadline_seconds: float) -> MetricsAnswer:
        readings = {id_: self._reading(id_, now) for id_ in ids}
        error = "Prometheus cannot be reached." if self.prometheus_down else ""
        return MetricsAnswer(readings, self.prometheus_down, error, (), 2, 0.01)

    def last_bucket_ms(self, deadline_seconds: float) -> float | None:
        self.buckets_asked += 1
        return self.last_bucket

    def _reading(self, id_: str, now: float) -> MetricsReading:
        rps = MetricSample(value=self.load.get(id_), at=now, query="sum by (deployment_id) (rate(…))")
        return MetricsReading(rps=rps, prometheus_down=self.prometheus_down)

    # What the loops do.
    def begin(self, *names: str, most: int = 100) -> None:
        """Instances announce themselves; the list is synced and every deployment taken."""
        for name in names or ("one",):
            self.announce(name, most)
        self.sync()
        for name in names or ("one",):
            self.manage(name)

    def announce(self, name: str, most: int = 100) -> None:
        now = self.clock()
        Instance.objects.update_or_create(
            name=name, defaults={"max_deployments": most, "seen_at": now, "started_at": now}
        )

    def sync(self) -> None:
        syncer.run(self.clock())

    def manage(self, name: str = "one") -> None:
        manager.run(self.clock(), name)

    def tick(self, name: str = "one", after: float = 5, times: int = 1) -> None:
        for _ in range(times):
            self.clock.advance(after)
            scaler.run(self.clock(), name)

    def live(self) -> None:
        lifecycle.run(self.clock())

    def scaler(self, id_: str) -> Scaler:
        return Scaler.objects.select_related("deployment").get(deployment__deployment_id=id_)

    def row(self, id_: str) -> Deployment:
        return Deployment.objects.get(deployment_id=id_)

    def decisions(self, id_: str) -> list[ReplicaDecision]:
        return list(ReplicaDecision.objects.filter(deployment__deployment_id=id_).order_by("pk"))


REFUSED_CONNECTION = GatewayUnreachable("The Gateway at http://gateway cannot be reached: connection refused.")
