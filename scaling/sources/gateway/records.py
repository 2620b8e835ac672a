"""What the Gateway lists, is asked and answers; times are Unix seconds, durations seconds."""

from dataclasses import dataclass

from scaling.replicas.decision import Outcome
from scaling.replicas.replica import Replica


@dataclass(frozen=True, slots=True)
class ListedDeployment:
    """One deployment as listed, its status in lower case; None where the Gateway says nothing.

    `replicas` None means that this deployment's replicas could not be read (`FleetList.problems` says why), an empty
    tuple that it has none.
    """

    id: str
    name: str
    status: str
    min_replicas: int
    max_replicas: int
    target_latency_p95_ms: float | None
    target_rps: float | None
    stabilization_window_seconds: float | None
    cooldown_seconds: float | None
    tolerance: float | None
    scale_up_limit: int | None
    last_request_at: float | None
    replicas: tuple[Replica, ...] | None


@dataclass(frozen=True, slots=True)
class FleetList:
    """The whole list; `problems` are sentences about deployments whose replicas could not be read."""

    deployments: tuple[ListedDeployment, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScaleCall:
    """One POST /scale."""

    deployment_id: str
    replicas_to_add: int
    replica_ids_to_stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScaleAnswer:
    """What came back: `ok`, `refused` (not done) or `timeout` (it may have been done), why, and how long it took."""

    call: ScaleCall
    outcome: Outcome
    message: str
    seconds: float
