"""A real exporter: prometheus_client serves counters that grow at known rates.

Every sample carries its own time, so what Prometheus computes from them does not depend on when it came to scrape.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

BOUNDS = ("100", "250", "500", "1000", "+Inf")
FIRST_COUNT = 1_000_000.0
BEGAN = time.time() - 100


@dataclass(frozen=True)
class Served:
    """One replica's requests per second below each bound."""

    replica: str
    below: tuple[float, ...]


DEPLOYMENTS: Mapping[str, tuple[Served, ...]] = {
    # Together 15, 24, 33, 42, 42 a second: the 39.9th of 42 lies 6.9/9 into the bucket from 500 to 1000.
    "busy": (Served("a", (15, 24, 27, 30, 30)), Served("b", (0, 0, 6, 12, 12))),
    # The 9.5th of 10 lies 1.5/2 into the bucket from 100 to 250.
    "quick": (Served("a", (8, 10, 10, 10, 10)),),
    "idle": (Served("a", (0, 0, 0, 0, 0)),),
}
BY_HAND = {"busy": (500 + 500 * 6.9 / 9, 42.0), "quick": (100 + 150 * 1.5 / 2, 10.0)}
"""p95 in milliseconds and requests per second."""

STRANGE = ('a|b.*"c\\d', "a.b", "axb", "(a)", "ä ö", "new\nline", "{}", "$1^")
FLEET = (*STRANGE, *(f"d{number}" for number in range(52)))
FLEET_RPS = 4.0


class _Load(Collector):
    def collect(self) -> Iterable[Metric]:
        now = round(time.time(), 3)
        yield _family("lyceum_inference_latency_millis", DEPLOYMENTS, now)
        yield _family("fleet", {name: (Served("a", (1, 2, 4, 4, FLEET_RPS)),) for name in FLEET}, now)


def _family(name: str, deployments: Mapping[str, tuple[Served, ...]], now: float) -> Metric:
    family = HistogramMetricFamily(name, "Latency in milliseconds.", labels=["deployment_id", "replica"])
    for deployment, replicas in deployments.items():
        for served in replicas:
            counts = [FIRST_COUNT + rate * (now - BEGAN) for rate in served.below]
            buckets = list(zip(BOUNDS, counts, strict=True))
            family.add_metric([deployment, served.replica], buckets, sum_value=FIRST_COUNT, timestamp=now)
    return family


@contextmanager
def exporter() -> Iterator[str]:
    """Yields the `host:port` to scrape."""
    registry = CollectorRegistry()
    registry.register(_Load())
    server, thread = start_http_server(0, "127.0.0.1", registry)
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
