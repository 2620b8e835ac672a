"""Against a real Prometheus that scrapes a real exporter: values, and what each fault does to a deployment."""

import math
import time
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest

from scaling.replicas.decide import decide
from scaling.replicas.decision import Decision, Gate
from scaling.replicas.deployment import Deployment
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricsReading
from scaling.sources.prometheus import MetricsAnswer, PrometheusSettings, PrometheusSource
from tests.services.prometheus import PrometheusServer
from tests.sources.prometheus.exporter import BY_HAND, FLEET, FLEET_RPS
from tests.sources.prometheus.support import (
    Asked,
    Reply,
    decided,
    drips_body,
    four_healthy,
    is_silent,
    refuses,
    says,
    scripted,
)

pytestmark = pytest.mark.prometheus

IDS = ("busy", "quick", "idle", "absent")
WINDOW = "2s"
TARGET_OF_BUSY = BY_HAND["busy"][0]


def source_for(url: str, **changes: Any) -> PrometheusSource:
    return PrometheusSource(PrometheusSettings(url, window=WINDOW, **changes))


def eventually(
    source: PrometheusSource, right: Callable[[MetricsAnswer], bool], ids: tuple[str, ...] = IDS
) -> MetricsAnswer:
    """The first answer that is right: a window has to fill, and a late scrape makes `rate` guess at its edge."""
    deadline = time.monotonic() + 20
    while True:
        answer = source.read(ids, time.time(), 10)
        if right(answer):
            return answer
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def by_hand(answer: MetricsAnswer, within: float = 0.01) -> bool:
    return all(
        math.isclose(answer.readings[name].p95.value or 0, p95, rel_tol=within)
        and math.isclose(answer.readings[name].rps.value or 0, rps, rel_tol=within)
        for name, (p95, rps) in BY_HAND.items()
    )


def passed_on(url: str) -> Callable[[Asked], Reply]:
    """What the server at `url` says, status and all."""

    def answer(asked: Asked) -> Reply:
        def reply(handler: Any) -> None:
            with urlopen(Request(f"{url}{handler.path}")) as real:
                says(real.read(), real.status)(handler)

        return reply

    return answer


def test_p95_and_rps_equal_those_computed_by_hand(scraping_prometheus: PrometheusServer) -> None:
    with source_for(scraping_prometheus.url) as source:
        answer = eventually(source, by_hand)
    assert answer.queries == 2
    assert (answer.error, answer.warnings, answer.down) == ("", (), False)
    for name in BY_HAND:
        reading = answer.readings[name]
        assert reading.p95.at == pytest.approx(time.time(), abs=5)
        assert (reading.p95.series, reading.rps.series) == (1, 1)


def test_an_idle_deployment_has_no_quantile_and_holds_or_follows_its_rate(
    scraping_prometheus: PrometheusServer,
) -> None:
    with source_for(scraping_prometheus.url) as source:
        reading = eventually(source, by_hand).readings["idle"]
    assert math.isnan(reading.p95.value or 0)
    assert reading.rps.value == 0
    now = time.time()
    assert decided(reading, now, target_rps=None).desired == 4
    assert decided(reading, now, target_rps=None).stop == ()
    assert decided(reading, now).stop == ("r1",)


def test_an_absent_deployment_is_missing_for_it_alone(scraping_prometheus: PrometheusServer) -> None:
    with source_for(scraping_prometheus.url) as source:
        reading = eventually(source, by_hand).readings["absent"]
    assert (reading.p95.value, reading.rps.value) == (None, None)
    held(decided(reading, time.time()), Gate.METRICS_UNAVAILABLE)


def test_an_absent_metric_may_raise_and_never_lower(scraping_prometheus: PrometheusServer) -> None:
    with source_for(scraping_prometheus.url, p95_metric="no_such_metric_bucket") as source:
        answer = eventually(source, lambda it: math.isclose(it.readings["busy"].rps.value or 0, 42, rel_tol=0.01))
    reading, now = answer.readings["busy"], time.time()
    assert reading.p95.value is None
    assert decided(reading, now, target_rps=100).stop == ()
    assert decided(reading, now, target_rps=100).desired == 4
    assert decided(reading, now, target_rps=7.5).add == 2


def test_a_wrong_label_leaves_all_missing_and_says_why(scraping_prometheus: PrometheusServer) -> None:
    with source_for(scraping_prometheus.url, label="deployment") as source:
        answer = eventually(source, lambda it: bool(it.warnings))
    assert "series without the label deployment" in answer.warnings[0]
    held(decided(answer.readings["busy"], time.time()), Gate.METRICS_UNAVAILABLE)


def test_a_query_over_too_many_samples_is_answered_in_parts_whatever_the_ids_hold(
    scraping_prometheus: PrometheusServer,
) -> None:
    with source_for(scraping_prometheus.url, p95_metric="fleet_bucket", count_metric="fleet_count") as source:
        answer = eventually(source, lambda it: fleet_is_right(it), FLEET)
    assert 2 < answer.queries <= 20
    assert answer.error == ""
    assert any("HTTP 422" in warning for warning in answer.warnings)


def fleet_is_right(answer: MetricsAnswer) -> bool:
    assert set(answer.readings) == set(FLEET)
    return all(
        math.isclose(reading.rps.value or 0, FLEET_RPS, rel_tol=0.01)
        and math.isclose(reading.p95.value or 0, 475, rel_tol=0.01)
        for reading in answer.readings.values()
    )


def test_the_past_of_a_deployment_equals_what_was_computed_by_hand(scraping_prometheus: PrometheusServer) -> None:
    with source_for(scraping_prometheus.url) as source:
        eventually(source, by_hand)
        time.sleep(1.1)
        now = time.time()
        history = source.history("busy", now - 40, now, 1, 10)
    assert history.error == ""
    assert len(history.p95) == len(history.rps) == 41
    p95, rps = BY_HAND["busy"]
    values = [value for _, value in history.p95 if value is not None]
    assert values
    assert values == pytest.approx([p95] * len(values), rel=0.01)
    assert any(value == pytest.approx(rps, rel=0.01) for _, value in history.rps)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (refuses(503, "query timed out"), "HTTP 503"),
        (refuses(400, "parse error"), "HTTP 400"),
        (is_silent, "gave no whole answer in time"),
        (drips_body, "gave no whole answer in time"),
    ],
)
def test_a_fault_between_us_and_prometheus_holds_and_passes(
    scraping_prometheus: PrometheusServer, fault: Reply, said: str
) -> None:
    good = passed_on(scraping_prometheus.url)
    with scripted(good) as between, source_for(between.url, timeout_seconds=1) as source:
        eventually(source, by_hand)
        between.answer = lambda _asked: fault
        began = time.monotonic()
        answer = source.read(IDS, time.time(), 10)
        assert time.monotonic() - began < 9.5
        assert said in answer.error
        assert not answer.down
        held(decided(answer.readings["busy"], time.time()), Gate.METRICS_UNAVAILABLE)
        between.answer = good
        assert eventually(source, by_hand).error == ""


def test_warnings_beside_real_values_may_raise_and_never_lower(scraping_prometheus: PrometheusServer) -> None:
    def answer(asked: Asked) -> Reply:
        def reply(handler: Any) -> None:
            with urlopen(f"{scraping_prometheus.url}{handler.path}") as real:
                says(real.read().replace(b"{", b'{"warnings": ["a store is gone"], ', 1))(handler)

        return reply

    with scripted(answer) as between, source_for(between.url) as source:
        got = eventually(source, by_hand)
    assert got.warnings == ("a store is gone",)
    reading, now = got.readings["busy"], time.time()
    assert decided(reading, now, target_latency_p95_ms=5000, target_rps=100).stop == ()
    assert decided(reading, now, target_latency_p95_ms=TARGET_OF_BUSY / 1.9).add == 4


def test_prometheus_killed_and_back_loses_no_replica(scraping_prometheus: PrometheusServer) -> None:
    scaler = Scaler()
    with source_for(scraping_prometheus.url) as source:
        assert scaler.tick(eventually(source, by_hand).readings["busy"]).gate is None
        scraping_prometheus.kill()
        try:
            answer = source.read(IDS, time.time(), 10)
        finally:
            scraping_prometheus.start()
        assert answer.down
        assert answer.seconds < 5
        assert scaler.tick(answer.readings["busy"]).gate is Gate.PROMETHEUS_DOWN
        # What it kept of the time before is soon too old; then the window fills anew.
        eventually(source, lambda now: scaler.tick(now.readings["busy"]).gate is Gate.METRICS_UNAVAILABLE)
        eventually(source, lambda now: scaler.tick(now.readings["busy"]).gate is None and by_hand(now))


class Scaler:
    """A deployment of four healthy replicas, on target as it is; every tick must leave it alone."""

    deployment = Deployment("busy", 1, 10, target_latency_p95_ms=TARGET_OF_BUSY, target_rps=10.5)

    def __init__(self) -> None:
        self.memory = ScalerMemory()

    def tick(self, reading: MetricsReading) -> Decision:
        now = time.time()
        decision = decide(self.deployment, four_healthy(now), reading, self.memory, now)
        assert decision.learned is not None
        assert (decision.add, decision.stop) == (0, ()), decision
        self.memory = ScalerMemory(window=decision.learned.window, first_healthy_at=now - 7200)
        return decision


def held(decision: Decision, gate: Gate) -> None:
    assert (decision.gate, decision.desired, decision.add, decision.stop) == (gate, 4, 0, ())
