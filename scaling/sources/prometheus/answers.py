"""What a read and a look at the past bring back."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaling.replicas.metrics import MetricsReading

Point = tuple[float, float | None]
"""A time in Unix seconds and the value then; None where there was none (no sample, NaN, ±Inf)."""


@dataclass(frozen=True, slots=True)
class MetricsAnswer:
    """One read of all deployments; every deployment asked for has a reading.

    `down`: Prometheus cannot be reached. `error` is empty when every query went well, else what failed, for people.
    `warnings` are for people too: those of Prometheus (its infos included) and what this side noticed (a metric asked
    for in parts, series without the label, clocks that disagree). Which of them hold back a scale-down is in the
    samples of the readings. `queries` counts the calls made, `seconds` is how long all took.
    """

    readings: Mapping[str, MetricsReading]
    down: bool
    error: str
    warnings: tuple[str, ...]
    queries: int
    seconds: float


@dataclass(frozen=True, slots=True)
class MetricsHistory:
    """One deployment over a range: p95 in milliseconds and requests per second, a point for every step."""

    p95: tuple[Point, ...]
    rps: tuple[Point, ...]
    error: str
    warnings: tuple[str, ...]
