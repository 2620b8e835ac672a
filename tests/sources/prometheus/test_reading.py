"""How an answer becomes samples: one for each deployment asked for, raw."""

import math

import pytest

from scaling.replicas.metrics import MetricSample
from tests.sources.prometheus.support import NOW, always, both, decided, ids, read, says, scripted, series, vector


def sample(*of: object, **more: object) -> MetricSample:
    """The rps sample of d1 when both queries are answered with these series."""
    with scripted(always(says(vector(*of, **more)))) as server:
        return read(server.url).readings["d1"].rps


def test_each_deployment_has_its_own_values_and_their_time() -> None:
    p95 = vector(series("d1", "812.5", NOW - 3), series("d2", "40"))
    rps = vector(series("d2", "0"), series("d1", "4.2e+01", NOW - 3))
    with scripted(both(p95, rps)) as server:
        answer = read(server.url, ids(2))
    first, second = answer.readings["d1"], answer.readings["d2"]
    assert (first.p95.value, first.rps.value, first.rps.at, first.rps.series) == (812.5, 42, NOW - 3, 1)
    assert (second.p95.value, second.rps.value) == (40, 0)
    assert (answer.error, answer.warnings, answer.down) == ("", (), False)


@pytest.mark.parametrize(("word", "value"), [("+Inf", math.inf), ("-Inf", -math.inf), ("Inf", math.inf), (5, 5.0)])
def test_words_for_values_are_read(word: object, value: float) -> None:
    assert sample(series("d1", word)).value == value


def test_nan_is_a_number_that_is_none() -> None:
    value = sample(series("d1", "NaN")).value
    assert value is not None
    assert math.isnan(value)


def test_a_deployment_absent_from_the_answer_is_missing_alone() -> None:
    with scripted(always(says(vector(series("d1", "3"))))) as server:
        answer = read(server.url, ids(2))
    assert answer.readings["d1"].rps.value == 3
    missing = answer.readings["d2"].rps
    assert (missing.value, missing.series, missing.error) == (None, 0, "")
    assert not answer.error


def test_a_value_that_no_deployment_can_have_is_none_and_the_reason_is_said() -> None:
    with scripted(both(vector(series("d1", "8.64e7"), series("d2", "1e8")), vector(series("d2", "1e300")))) as server:
        answer = read(server.url, ids(2))
    assert answer.readings["d1"].p95.value == 86_400_000
    second = answer.readings["d2"]
    assert (second.p95.value, second.rps.value) == (None, None)
    assert second.rps.error == "its value is 1e+300, which no deployment can have (at most 1,000,000,000)"


def test_several_series_for_one_deployment_are_counted() -> None:
    assert sample(series("d1", "3"), series("d2"), series("d1", "4"), series("d1", "5")).series == 3


@pytest.mark.parametrize(
    "pair",
    [
        None,
        [],
        [NOW],
        ["x"],
        "12",
        [NOW, None],
        [NOW, "high"],
        [NOW, True],
        [NOW, ["1"]],
        [NOW, "1", 2],
        [10**400, "1"],
    ],
)
def test_a_series_whose_value_cannot_be_read_is_missing_alone(pair: object) -> None:
    broken = {"metric": {"deployment_id": "d1"}, "value": pair}
    with scripted(always(says(vector(broken, series("d2", "3"))))) as server:
        answer = read(server.url, ids(2))
    assert answer.readings["d1"].rps.value is None
    assert answer.readings["d1"].rps.error
    assert answer.readings["d2"].rps.value == 3


def test_a_native_histogram_is_no_value() -> None:
    assert "no [time, value]" in sample({"metric": {"deployment_id": "d1"}, "histogram": [NOW, {}]}).error


@pytest.mark.parametrize("at", [None, "now", True, float("nan"), [1]])
def test_a_sample_without_a_time_is_missing(at: object) -> None:
    read_sample = sample(series("d1", "1", at))
    assert read_sample.at is None
    with scripted(always(says(vector(series("d1", "1", at))))) as server:
        decision = decided(read(server.url).readings["d1"])
    assert decision.gate == "metrics_unavailable"


@pytest.mark.parametrize("labels", [{}, {"other": "d1"}, {"deployment_id": ""}, None])
def test_series_without_the_label_count_for_nobody_and_are_said(labels: object) -> None:
    nobody = {"metric": labels, "value": [NOW, "99"]}
    with scripted(always(says(vector(nobody, series("d1", "3"))))) as server:
        answer = read(server.url)
    assert answer.readings["d1"].rps.value == 3
    assert answer.readings["d1"].rps.warnings == ()
    assert answer.warnings == ("1 series without the label deployment_id, which count for nobody.",)


@pytest.mark.parametrize(
    ("lag_seconds", "age"),
    [(31, "30 s"), (59, "30 s"), (61, "1 min"), (95, "1 min"), (119, "1 min"), (7300, "121 min")],
)
def test_a_clock_that_lags_is_said_without_a_number_that_rises_with_every_tick(lag_seconds: int, age: str) -> None:
    with scripted(always(says(vector(series("d1", "3", NOW - lag_seconds))))) as server:
        answer = read(server.url)
    assert answer.warnings == (
        f"The samples are more than {age} old when they come: compare the clock of Prometheus with this one.",
    )


def test_samples_of_a_clock_that_lags_are_no_metrics() -> None:
    with scripted(always(says(vector(series("d1", "3", NOW - 95))))) as server:
        answer = read(server.url)
    assert decided(answer.readings["d1"]).gate == "metrics_unavailable"


def test_warnings_make_every_deployment_partial() -> None:
    partial = vector(series("d1", "3"), series("d2", "4"), warnings=["one store did not answer"])
    with scripted(both(vector(series("d1"), series("d2")), partial)) as server:
        answer = read(server.url, ids(3))
    assert [answer.readings[each].rps.warnings for each in ids(3)] == [("one store did not answer",)] * 3
    assert [answer.readings[each].p95.warnings for each in ids(3)] == [()] * 3
    assert answer.warnings == ("rps: one store did not answer",)
    assert answer.error == ""


def test_infos_are_shown_and_hold_nothing_back() -> None:
    remark = "PromQL info: metric might not be a counter"
    for more in ({"infos": [remark]}, {"warnings": [remark]}):
        with scripted(always(says(vector(series("d1", "3"), **more)))) as server:
            answer = read(server.url)
        assert answer.warnings == (remark,)
        assert answer.readings["d1"].rps.warnings == ()


@pytest.mark.parametrize("warnings", ["one text", {"a": 1}, [1], 5])
def test_warnings_of_any_shape_are_warnings(warnings: object) -> None:
    assert sample(series("d1"), warnings=warnings).warnings


@pytest.mark.parametrize("warnings", [None, [], ""])
def test_no_warnings_are_none(warnings: object) -> None:
    assert sample(series("d1"), warnings=warnings).warnings == ()


def test_a_flood_of_warnings_is_kept_short() -> None:
    said = sample(series("d1"), warnings=["w" * 1000] * 100).warnings
    assert len(said) == 6
    assert said[-1] == "and 95 more"
    assert max(map(len, said)) == 300


def test_an_id_asked_for_twice_has_one_reading() -> None:
    with scripted(always(says(vector(series("d1", "3"))))) as server:
        answer = read(server.url, ["d1", "d1"])
    assert answer.readings["d1"].rps.series == 1
