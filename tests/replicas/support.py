"""Short ways to say a deployment, its replicas and a scenario; everything not said is at ease."""

from collections.abc import Mapping
from typing import Any

from scaling.replicas.decide import decide
from scaling.replicas.decision import Decision
from scaling.replicas.deployment import Deployment
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica
from scaling.scenarios.replica_reading import parse_scenario
from scaling.scenarios.replica_report import report
from scaling.scenarios.replica_runner import run_scenario

OLD = -90_000.0
NAN = float("nan")
INF = float("inf")


def deployment(**changes: Any) -> Deployment:
    """1 to 10 replicas, 500 ms, requests just now."""
    base: dict[str, Any] = {
        "id": "d1",
        "min_replicas": 1,
        "max_replicas": 10,
        "target_latency_p95_ms": 500,
        "last_request_at": -1,
    }
    return Deployment(**base | changes)


def healthy(count: int, prefix: str = "h") -> list[Replica]:
    """Old healthy replicas, the first the oldest."""
    return [
        Replica(f"{prefix}{number}", healthy=True, created=OLD + number, last_health_check=-1)
        for number in range(1, count + 1)
    ]


def reading(p95: float | None = 500, rps: float | None = 20, at: float = 0, **changes: Any) -> MetricsReading:
    """Both metrics, fresh."""
    return MetricsReading(MetricSample(p95, at, **changes), MetricSample(rps, at, **changes))


def drained(**changes: Any) -> ScalerMemory:
    """A memory whose window holds nothing back and whose first healthy replica is long ago."""
    base: dict[str, Any] = {"window": (), "first_healthy_at": -7200.0}
    return ScalerMemory(**base | changes)


def decided(
    settings: Deployment,
    replicas: list[Replica] | None,
    metrics: MetricsReading | None = None,
    memory: ScalerMemory | None = None,
    now: float = 0,
    **more: Any,
) -> Decision:
    """One decision at 0."""
    return decide(settings, replicas, metrics or reading(), memory or drained(), now, **more)


def plan(settings: Mapping[str, Any], replicas: object, metrics: object = None, **more: Any) -> dict[str, Any]:
    """The report of a scenario: 1 to 10 replicas, 500 ms, on target, a drained window."""
    base = {
        "id": "d1",
        "min_replicas": 1,
        "max_replicas": 10,
        "target_latency_p95_ms": 500,
        "first_healthy_at": -7200,
        "last_request_at": -1,
    }
    scenario = {
        "deployment": {**base, **settings},
        "replicas": replicas,
        "metrics": {"p95_latency_ms": 500, "rps": 20} if metrics is None else metrics,
        "window": [],
        **more,
    }
    return report(run_scenario(parse_scenario({key: it for key, it in scenario.items() if it is not ...})))


def only(report_of_one: dict[str, Any]) -> dict[str, Any]:
    """The one tick of a report."""
    (tick,) = report_of_one["ticks"]
    return dict(tick)


def column(reported: dict[str, Any], key: str) -> list[Any]:
    """One key of every tick, in order."""
    return [tick[key] for tick in reported["ticks"]]


def class_column(reported: dict[str, Any], name: str) -> list[int]:
    """The count of one class in every tick, in order."""
    return [tick["counts"][name] for tick in reported["ticks"]]
