"""What a tick of a large fleet costs here."""

import time

from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from tests.sources.prometheus.support import NOW, always, says, scripted, series, vector

FEW, MANY = 1_000, 5_000


def test_the_processors_time_grows_with_the_deployments_and_no_faster() -> None:
    assert _cost(MANY) < 2 * MANY / FEW * _cost(FEW)


def _cost(count: int) -> float:
    """The least processor seconds of three readings of so many deployments."""
    names = [f"deployment-{number:05d}" for number in range(count)]
    with (
        scripted(always(says(vector(*(series(name, "123.4567890123") for name in names))))) as server,
        PrometheusSource(PrometheusSettings(server.url)) as source,
    ):
        costs = []
        for _ in range(3):
            began = time.process_time()
            answer = source.read(names, NOW, 60)
            costs.append(time.process_time() - began)
            assert (len(answer.readings), answer.queries) == (count, 2)
    return min(costs)
