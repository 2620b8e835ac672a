"""A real Prometheus that scrapes a real exporter, shared by the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.services.fixtures import refuse
from tests.services.programs import MissingProgramError
from tests.services.prometheus import PrometheusServer, prometheus_server
from tests.sources.prometheus.exporter import exporter

SCRAPE_INTERVAL = "200ms"
MOST_SAMPLES = 250


@pytest.fixture(scope="session")
def scraping_prometheus(request: pytest.FixtureRequest) -> Iterator[PrometheusServer]:
    """Refuses, as real ones do, a query over too many samples: the fleet of the exporter's `fleet` metric is one."""
    with exporter() as target:
        try:
            with prometheus_server([target], SCRAPE_INTERVAL, [f"--query.max-samples={MOST_SAMPLES}"]) as server:
                yield server
        except MissingProgramError as missing:
            refuse(request, f"Prometheus (program {missing})")
