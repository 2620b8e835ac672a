"""The past of one deployment, a point for every step."""

import math
from typing import Any

import pytest

from scaling.sources.prometheus import MetricsHistory, PrometheusSettings, PrometheusSource
from tests.sources.prometheus.support import NOW, always, both, is_silent, refuses, says, scripted, vector


def matrix(*values: list[object], **more: object) -> dict[str, Any]:
    series = [{"metric": {"deployment_id": "d1"}, "values": [list(each) for each in values]}] if values else []
    return {"status": "success", "data": {"resultType": "matrix", "result": series}, **more}


def past(url: str, start: float = NOW, end: float = NOW + 60, step: float = 15, **changes: Any) -> MetricsHistory:
    with PrometheusSource(PrometheusSettings(url, **changes)) as source:
        return source.history("d1", start, end, step, 5)


def test_both_metrics_are_asked_over_the_range_for_one_deployment() -> None:
    with scripted(both(matrix([NOW, "100"], [NOW + 15, "110"]), matrix([NOW, "1"]))) as server:
        history = past(server.url, NOW, NOW + 15)
    assert history.p95 == ((NOW, 100), (NOW + 15, 110))
    assert history.rps == ((NOW, 1), (NOW + 15, None))
    assert (history.error, history.warnings) == ("", ())
    assert {asked.path for asked in server.asked} == {"/api/v1/query_range"}
    assert all('{deployment_id="d1"}[1m]' in asked.query for asked in server.asked)
    assert {(asked.parameters["start"], asked.parameters["end"]) for asked in server.asked} == {
        (f"{NOW:.0f}", f"{NOW + 15:.0f}")
    }


def test_gaps_nan_and_infinities_are_none() -> None:
    values = matrix([NOW, "NaN"], [NOW + 15, "1e300"], [NOW + 30, "+Inf"], [NOW + 45, "2"])
    with scripted(always(says(values))) as server:
        history = past(server.url)
    assert [value for _, value in history.rps] == [None, None, None, 2, None]


def test_a_deployment_without_a_past_has_points_without_values() -> None:
    with scripted(always(says(matrix()))) as server:
        history = past(server.url)
    assert history.rps == tuple((NOW + 15 * number, None) for number in range(5))
    assert history.error == ""


def test_warnings_are_shown() -> None:
    with scripted(always(says(matrix([NOW, "1"], warnings=["half of it"], infos=["a remark"])))) as server:
        assert past(server.url).warnings == ("half of it", "a remark")


def test_a_step_too_small_for_the_range_is_widened() -> None:
    with scripted(always(says(matrix()))) as server:
        history = past(server.url, NOW, NOW + 30 * 86_400, 1)
    assert 10_000 < len(history.rps) <= 11_000
    assert math.isclose(float(server.asked[0].parameters["step"]), history.rps[1][0] - NOW)


def test_a_fine_step_is_kept_where_it_fits() -> None:
    with scripted(always(says(matrix()))) as server:
        assert len(past(server.url, NOW, NOW + 10, 0.5).rps) == 21


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (10, 5, 1),
        (0, 10, 0),
        (0, 10, -1),
        (math.nan, 10, 1),
        (0, math.inf, 1),
        (-5, 10, 1),
        (0, 10, math.nan),
        (0, 1e18, 1),
    ],
)
def test_a_bad_range_is_said_and_nothing_is_asked(start: float, end: float, step: float) -> None:
    with scripted(always(says(matrix()))) as server:
        history = past(server.url, start, end, step)
    assert history.error.startswith("The range must end after it begins")
    assert server.asked == []


@pytest.mark.parametrize(
    "body",
    [
        vector(),
        {"status": "success", "data": {"resultType": "matrix", "result": [{}, {}]}},
        {"status": "success", "data": {"resultType": "matrix", "result": [{"values": 3}]}},
        matrix([NOW, None]),
    ],
)
def test_an_answer_that_is_none_is_said(body: object) -> None:
    with scripted(both(matrix([NOW, "1"]), body)) as server:
        history = past(server.url)
    assert history.error.startswith("rps: Prometheus answered with")
    assert history.rps == ()
    assert history.p95[0] == (NOW, 1)


def test_a_refusal_is_said_and_not_split() -> None:
    with scripted(always(refuses(503))) as server:
        assert past(server.url).error == "Prometheus answered with HTTP 503: bad no such thing."
        assert len(server.asked) == 2


def test_a_slow_answer_is_bounded() -> None:
    with scripted(always(is_silent)) as server:
        assert "no whole answer in time" in past(server.url, timeout_seconds=1).error
