"""The stand-in for Prometheus: the scaler's own client reads it, and its numbers are the fleet's."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaling.replicas.metrics import MetricsReading
from scaling.sources.prometheus import MetricsAnswer, PrometheusSettings, PrometheusSource
from scaling.testing.fleet.questions import Asked, UnknownQuestion, read_question
from tests.testing.fleet.serving import Served, served

IDS = ["d1", "d2"]
P95 = "histogram_quantile(0.95, sum by (deployment_id, le) (rate(lyceum_inference_latency_millis_bucket[1m])))"


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as running:
        yield running


def source(fleet: Served) -> PrometheusSource:
    return PrometheusSource(
        PrometheusSettings(address=f"{fleet.url}/prometheus", username="", password="", timeout_seconds=1)
    )


def read(fleet: Served, ids: list[str] = IDS) -> MetricsAnswer:
    return source(fleet).read(ids, fleet.fleet.at, 1)


def test_the_scalers_client_reads_p95_and_rate(fleet: Served) -> None:
    answer = read(fleet, ["d1", "d2", "d3"])
    assert (answer.down, answer.error, answer.queries) == (False, "", 2)
    spec = fleet.fleet.find("d1").spec
    for name in IDS:
        reading = answer.readings[name]
        assert reading.rps.value == pytest.approx(20, rel=0.01)
        assert reading.p95.value == pytest.approx(spec.replica.p95_ms(10), rel=0.1)
    assert answer.readings["d3"].p95.value is None


def test_the_history_is_that_of_the_fleet(fleet: Served) -> None:
    end = fleet.fleet.at
    history = source(fleet).history("d1", end - 60, end, 10, 5)
    assert history.error == ""
    assert [value for _, value in history.rps][-3:] == pytest.approx([20] * 3, rel=0.01)


@pytest.mark.parametrize("fault", ["down", "slow", "400", "503", "truncated", "cut"])
def test_a_fault_is_missing_data_and_passes(fleet: Served, fault: str) -> None:
    fleet.ask("POST", "/_faults", {"prometheus": fault})
    assert all(_is_missing(reading) for reading in read(fleet).readings.values())
    fleet.ask("POST", "/_faults", {"prometheus": None})
    assert read(fleet).readings["d1"].rps.value == pytest.approx(20, rel=0.01)


def test_empty_answers_and_warnings_can_be_had(fleet: Served) -> None:
    fleet.ask("POST", "/_faults", {"prometheus": "empty"})
    assert all(_is_missing(reading) for reading in read(fleet).readings.values())
    fleet.ask("POST", "/_faults", {"prometheus": "warnings"})
    assert read(fleet).readings["d1"].rps.warnings


def _is_missing(reading: MetricsReading) -> bool:
    return reading.prometheus_down or (reading.rps.value is None and reading.p95.value is None)


def test_it_says_that_it_is_a_stand_in(fleet: Served) -> None:
    status, body = fleet.ask("GET", "/prometheus/api/v1/status/buildinfo")
    assert (status, body["data"]["version"]) == (200, "iris-stand-in")


def test_another_query_is_refused_as_prometheus_would(fleet: Served) -> None:
    status, body = fleet.ask("GET", "/prometheus/api/v1/query?query=up")
    assert (status, body["status"], body["errorType"]) == (400, "error", "bad_data")
    assert "answers only" in body["error"]
    assert fleet.ask("GET", "/prometheus/api/v1/labels")[0] == 404
    assert fleet.ask("GET", "/prometheus/api/v1/query_range?query=up&start=1&end=0&step=1")[0] == 400


@pytest.mark.parametrize(
    ("query", "asked", "seconds", "covered"),
    [
        (P95, Asked.P95, 60, ["d1", "d2", 'a"b']),
        (P95.replace(" ", ""), None, 0, []),
        (P95.replace(", ", ",").replace(") (", ")("), Asked.P95, 60, ["d1", "d2", 'a"b']),
        ("sum by (deployment_id) (rate(lyceum_inference_latency_millis_count[1h30m]))", Asked.RPS, 5400, ["d1"]),
        ('sum by (deployment_id) (rate(m_count{deployment_id="d1"}[30s]))', Asked.RPS, 30, ["d1"]),
        ('sum by (deployment_id) (rate(m_count{deployment_id=~"d1|a\\"b"}[500ms]))', Asked.RPS, 0.5, ["d1", 'a"b']),
    ],
)
def test_the_scalers_queries_are_understood(
    query: str, asked: Asked | None, seconds: float, covered: list[str]
) -> None:
    if asked is None:
        with pytest.raises(UnknownQuestion):
            read_question(query)
        return
    question = read_question(query)
    assert (question.asked, question.window_seconds) == (asked, pytest.approx(seconds))
    assert [name for name in ("d1", "d2", 'a"b') if question.covers(name)] == [
        name for name in ("d1", "d2", 'a"b') if name in covered or (question.ids is None)
    ]


def test_another_metric_is_not_there(fleet: Served) -> None:
    from urllib.parse import quote

    query = quote("sum by (deployment_id) (rate(other_count[1m]))")
    assert fleet.ask("GET", f"/prometheus/api/v1/query?query={query}")[1]["data"]["result"] == []


def test_no_requests_make_the_quantile_nan(tmp_path: Path) -> None:
    from tests.testing.fleet.serving import warm_fleet

    with served(tmp_path, warm_fleet(rps=0)) as idle:
        reading = read(idle).readings["d1"]
    assert reading.rps.value == 0
    assert reading.p95.value is not None and math.isnan(reading.p95.value)
