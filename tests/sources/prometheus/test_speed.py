"""What a tick of a large fleet costs here."""

import time

from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from tests.sources.prometheus.support import NOW, always, says, scripted, series, vector


def test_five_thousand_deployments_cost_little_processor_time() -> None:
    names = [f"deployment-{number:05d}" for number in range(5000)]
    with (
        scripted(always(says(vector(*(series(name, "123.4567890123") for name in names))))) as server,
        PrometheusSource(PrometheusSettings(server.url)) as source,
    ):
        source.read(names, NOW, 10)
        began = time.process_time()
        answer = source.read(names, NOW, 10)
        spent = time.process_time() - began
    assert len(answer.readings) == 5000
    assert answer.queries == 2
    assert spent < 0.5
