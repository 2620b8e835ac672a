"""How long a replica takes for a request, by how busy it is."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

BUCKETS_MS: tuple[float, ...] = (
    *(25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 1000),
    *(1250, 1500, 2000, 3000, 5000, 10000),
)
"""The finite bounds of the histogram in milliseconds; an infinite one comes after them."""

UTILISATION_STEP = 0.005
BUSIEST = 60.0


@dataclass(frozen=True, slots=True)
class ReplicaModel:
    """A replica that serves what comes in one batch, as servers of language models do: each request slows the others.

    The median latency is `service_ms` with nothing else to do and grows in proportion to the load, by `growth` times
    that at `capacity_rps`; latencies are log-normal around it with the shape `spread`. Nobody waits longer than
    `slowest_ms`.
    """

    service_ms: float = 150
    capacity_rps: float = 10
    growth: float = 1.0
    spread: float = 0.3
    slowest_ms: float = 12_000

    def median_ms(self, rps: float) -> float:
        """The median latency of a replica that gets `rps` requests per second."""
        return min(self.slowest_ms, self.service_ms * (1 + self.growth * rps / self.capacity_rps))

    def p95_ms(self, rps: float) -> float:
        return min(self.slowest_ms, self.median_ms(rps) * math.exp(1.6448536 * self.spread))

    def shares(self, rps: float) -> tuple[float, ...]:
        """For each bound, infinity included, the share of requests that take no longer."""
        step = round(rps / self.capacity_rps / UTILISATION_STEP)
        return _shares(self, min(step, round(BUSIEST / UTILISATION_STEP)))


@lru_cache(maxsize=8192)
def _shares(model: ReplicaModel, step: int) -> tuple[float, ...]:
    median = model.median_ms(step * UTILISATION_STEP * model.capacity_rps)
    below = [_normal(math.log(bound / median) / model.spread) for bound in BUCKETS_MS]
    first_full = bisect_left(BUCKETS_MS, model.slowest_ms)
    return (*(1.0 if index >= first_full else share for index, share in enumerate(below)), 1.0)


def _normal(deviations: float) -> float:
    return 0.5 * (1 + math.erf(deviations / math.sqrt(2)))
