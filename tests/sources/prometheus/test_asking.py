"""What is asked, and how."""

import base64
import threading
from collections.abc import Callable

import pytest

from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from scaling.sources.prometheus.queries import p95_query, rps_query
from tests.sources.prometheus.support import (
    NOW,
    Asked,
    Reply,
    always,
    both,
    ids,
    read,
    says,
    scripted,
    series,
    vector,
)

P95 = "histogram_quantile(0.95, sum by (deployment_id, le) (rate(lyceum_inference_latency_millis_bucket[1m])))"
RPS = "sum by (deployment_id) (rate(lyceum_inference_latency_millis_count[1m]))"


def test_a_read_is_two_queries_whatever_the_number_of_deployments() -> None:
    with scripted(always(says(vector()))) as server:
        answer = read(server.url, ids(500))
    assert answer.queries == 2
    assert sorted(asked.query for asked in server.asked) == [P95, RPS]
    assert {(asked.method, asked.path) for asked in server.asked} == {("GET", "/api/v1/query")}


def test_names_label_and_window_are_settings() -> None:
    settings = PrometheusSettings(p95_metric="lat_bucket", count_metric="req:total", label="app", window="90s")
    assert p95_query(settings).text == "histogram_quantile(0.95, sum by (app, le) (rate(lat_bucket[90s])))"
    assert rps_query(settings).text == "sum by (app) (rate(req:total[90s]))"


def test_ids_in_a_part_are_taken_literally() -> None:
    query = rps_query(PrometheusSettings(label="app", count_metric="c"))
    assert query.text_for(["a.b", 'c"|d', "e\\f"]) == (r'sum by (app) (rate(c{app=~"a\\.b|c\"\\|d|e\\\\f"}[1m]))')
    assert query.text_for(["a.*"]) == 'sum by (app) (rate(c{app="a.*"}[1m]))'


def test_the_metric_of_other_deployments_is_passed_over() -> None:
    with scripted(always(says(vector(series("other", "7"), series("d1", "3"))))) as server:
        answer = read(server.url)
    assert list(answer.readings) == ["d1"]
    assert answer.readings["d1"].rps.value == 3


def test_an_address_may_have_a_path_and_a_slash_at_its_end() -> None:
    with scripted(always(says(vector(series("d1"))))) as server:
        answer = read(f"{server.url}/behind/proxy/")
    assert not answer.error
    assert {asked.path for asked in server.asked} == {"/behind/proxy/api/v1/query"}


def test_basic_auth_is_sent_as_utf_8() -> None:
    with scripted(always(says(vector()))) as server:
        read(server.url, username="ada", password="pässwörd€")
    expected = "Basic " + base64.b64encode("ada:pässwörd€".encode()).decode()
    assert [asked.authorization for asked in server.asked] == [expected] * 2


def test_without_credentials_none_are_sent() -> None:
    with scripted(always(says(vector()))) as server:
        read(server.url)
    assert [asked.authorization for asked in server.asked] == ["", ""]


def test_prometheus_is_told_to_give_up_before_we_do() -> None:
    with scripted(always(says(vector()))) as server:
        read(server.url, deadline=2)
    for asked in server.asked:
        assert 1 < float(asked.parameters["timeout"]) < 2


def test_the_two_queries_run_at_once() -> None:
    meet = threading.Barrier(2)

    def answer(_asked: Asked) -> Reply:
        meet.wait(3)
        return says(vector(series("d1")))

    with scripted(answer) as server:
        assert not read(server.url).error


def test_without_deployments_nothing_is_asked() -> None:
    with scripted(always(says(vector()))) as server:
        answer = read(server.url, [])
    assert (answer.queries, answer.readings, answer.down, server.asked) == (0, {}, False, [])


def test_without_time_nothing_is_asked_and_all_is_missing() -> None:
    with scripted(always(says(vector()))) as server:
        answer = read(server.url, deadline=0)
    assert (answer.queries, answer.down, server.asked) == (0, False, [])
    assert answer.error == "No time was left to ask Prometheus."
    assert answer.readings["d1"].rps.error == answer.error


def test_connections_are_used_again() -> None:
    with scripted(always(says(vector()))) as server, PrometheusSource(PrometheusSettings(server.url)) as source:
        for _ in range(10):
            source.read(["d1"], NOW, 5)
        assert len(server.asked) == 20
        assert server.connections <= 2


def test_several_threads_may_read_at_once() -> None:
    with (
        scripted(both(vector(series("d1", "450")), vector(series("d1", "7")))) as server,
        PrometheusSource(PrometheusSettings(server.url)) as source,
    ):
        answers = _at_once(8, lambda: source.read(["d1"], NOW, 5).readings["d1"])
    assert {(reading.p95.value, reading.rps.value) for reading in answers} == {(450, 7)}  # type: ignore[attr-defined]


def _at_once(count: int, act: Callable[[], object]) -> list[object]:
    results: list[object] = []
    threads = [threading.Thread(target=lambda: results.append(act())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == count
    return results


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for variable in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with scripted(always(says(vector(series("d1"))))) as proxy:
        monkeypatch.setenv(name, proxy.url)
        answer = read("http://prometheus.invalid:9090")
    assert not answer.error
    assert len(proxy.asked) == 2
