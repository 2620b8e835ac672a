"""What a fleet is made of: its deployments, their load, and how their replicas behave."""

from dataclasses import dataclass, field

from scaling.testing.fleet.latency import ReplicaModel
from scaling.testing.fleet.load import Load


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Seconds a replica takes to warm up, to leave, on average to fail (0 = never), and to feel a change of load."""

    warmup_seconds: float = 30.0
    drain_seconds: float = 2.0
    fails_every_seconds: float = 0.0
    felt_seconds: float = 10.0


@dataclass(slots=True)
class DeploymentSpec:
    """One deployment: what the Gateway lists of it (durations in seconds), its load and its replicas' speed.

    A test may change what is listed while the fleet runs; None is left out of the list.
    """

    id: str
    load: Load
    name: str = ""
    status: str = "running"
    min_replicas: int = 1
    max_replicas: int = 12
    target_latency_p95_ms: float | None = 500
    target_rps: float | None = 10
    stabilization_window: float | None = 300
    cooldown: float | None = 120
    tolerance: float | None = None
    scale_up_limit: int | None = None
    replica: ReplicaModel = field(default_factory=ReplicaModel)
    behaviour: Behaviour = field(default_factory=Behaviour)


LISTED_SETTINGS = (
    *("id", "name", "status", "min_replicas", "max_replicas", "target_latency_p95_ms", "target_rps"),
    *("stabilization_window", "cooldown", "tolerance", "scale_up_limit"),
)
"""The fields of a spec that the Gateway lists."""

CHANGEABLE = frozenset(LISTED_SETTINGS) - {"id"}
