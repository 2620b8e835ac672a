"""What a replica scenario says, as records; `replica_reading` makes them from a parsed file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from scaling.replicas.replica import Replica
from scaling.replicas.window import WindowEntry


class GatewayAnswer(StrEnum):
    """How the scripted Gateway answers POST /scale."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"


class Value(StrEnum):
    """A metric value that is no number."""

    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Metrics:
    """A `metrics` block; `age` in seconds at each tick, a value None is an empty answer."""

    p95_latency_ms: float | Value | None = None
    rps: float | Value | None = None
    age: float = 0
    warnings: bool = False
    series: int = 1


@dataclass(frozen=True, slots=True)
class CountedReplicas:
    """A `replicas` block of counts."""

    healthy: int = 0
    warming: int = 0
    unhealthy: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class ListedReplicas:
    """A `replicas` block that lists them."""

    replicas: tuple[Replica, ...]


@dataclass(frozen=True, slots=True)
class UnreadableReplicas:
    """`replicas: error`: the list cannot be read."""


Replicas = CountedReplicas | ListedReplicas | UnreadableReplicas


@dataclass(frozen=True, slots=True)
class Entry:
    """One timeline entry: holds from `at`, and until `until` where it is given (seconds)."""

    number: int
    at: float
    until: float | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    metrics: Metrics | None = None
    replicas: Replicas | None = None
    gateway: GatewayAnswer | None = None
    prometheus_down: bool | None = None
    lease_held: bool | None = None


@dataclass(frozen=True, slots=True)
class ReplicaScenario:
    """One scenario; `settings` are Deployment's fields, `memory` ScalerMemory's, timeline in order of time."""

    now: float
    warmup_seconds: float
    settings: Mapping[str, Any]
    memory: Mapping[str, Any]
    replicas: Replicas
    metrics: Metrics
    lease_held: bool
    window: tuple[WindowEntry, ...] | None
    ticks: int
    every: float
    timeline: tuple[Entry, ...]
