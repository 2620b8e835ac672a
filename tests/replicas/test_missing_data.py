"""Missing data is never zero: the table, row by row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.replicas.decision import Gate, LimitCode
from scaling.replicas.metrics import RPS_RULES, Metric, MetricSample, MetricsReading, Standing, weigh
from tests.replicas.support import INF, NAN, column, decided, deployment, drained, healthy, only, plan, reading

BOTH = {"target_latency_p95_ms": 500, "target_rps": 10}
RPS_ONLY = {"target_latency_p95_ms": None, "target_rps": 10}


def standing(metrics: MetricsReading, tick_seconds: float = 5, **settings: object) -> tuple[Standing, Standing]:
    evidence = weigh(metrics, deployment(**BOTH | settings), 4, 0, tick_seconds)
    return evidence.proposals[0].standing, evidence.proposals[1].standing


KNOWN, IDLE, MISSING, NOT_CONFIGURED = Standing


@pytest.mark.parametrize("value", [None, INF, -INF, -1, NAN])
def test_an_rps_that_is_no_amount_is_missing(value: float | None) -> None:
    assert standing(reading(500, value)) == (KNOWN, MISSING)


@pytest.mark.parametrize("value", [None, INF, -INF, -1, NAN])
def test_a_latency_that_is_no_amount_is_missing_under_load(value: float | None) -> None:
    assert standing(reading(value, 20)) == (MISSING, KNOWN)


def test_a_failed_query_is_missing_whatever_value_came_along() -> None:
    assert standing(reading(500, 20, error="503 Service Unavailable")) == (MISSING, MISSING)


@pytest.mark.parametrize(("series", "expected"), [(0, MISSING), (1, KNOWN), (2, MISSING)])
def test_only_one_series_is_an_answer(series: int, expected: Standing) -> None:
    assert standing(reading(500, 20, series=series)) == (expected, expected)


@pytest.mark.parametrize(
    ("age", "tick_seconds", "expected"),
    [
        (60, 5, KNOWN),
        (60.1, 5, MISSING),
        (60.1, 31, KNOWN),
        (62, 31, KNOWN),
        (62.1, 31, MISSING),
        (-30, 5, KNOWN),
    ],
)
def test_a_sample_counts_for_two_ticks_or_a_minute(age: float, tick_seconds: float, expected: Standing) -> None:
    assert standing(reading(500, 20, at=-age), tick_seconds) == (expected, expected)


def test_a_sample_without_a_time_cannot_be_believed() -> None:
    assert standing(MetricsReading(MetricSample(500), MetricSample(20))) == (MISSING, MISSING)


def test_nan_latency_without_requests_is_idle_and_leaves_the_maximum() -> None:
    evidence = weigh(reading(NAN, 0), deployment(**BOTH), 4, 0, 5)
    assert [it.standing for it in evidence.proposals] == [IDLE, KNOWN]
    assert evidence.ratio == 0
    assert evidence.may_lower


@pytest.mark.parametrize("rps", [0.01, None, NAN, INF, -1])
def test_nan_latency_with_requests_or_without_knowing_is_missing(rps: float | None) -> None:
    assert standing(reading(NAN, rps))[0] is MISSING


def test_a_target_of_zero_or_none_is_not_configured() -> None:
    assert standing(reading(), target_rps=0) == (KNOWN, NOT_CONFIGURED)
    assert standing(reading(), target_latency_p95_ms=None) == (NOT_CONFIGURED, KNOWN)


samples = st.builds(
    MetricSample,
    value=st.none() | st.floats() | st.integers(-2, 2).map(float),
    at=st.none() | st.floats(-130, 10),
    series=st.integers(0, 2),
    error=st.sampled_from(["", "503"]),
)


@given(samples)
def test_no_rule_applies_to_a_sample_that_is_used(sample: MetricSample) -> None:
    flaws = [why for why, applies in RPS_RULES if sample.value is not None and applies(sample, 0, 60)]
    proposal = weigh(MetricsReading(rps=sample), deployment(**BOTH), 1, 0, 5).proposals[1]
    if proposal.standing is KNOWN:
        assert flaws == []
    else:
        assert flaws or sample.value is None


def test_a_ratio_beyond_numbers_is_missing() -> None:
    assert standing(reading(1e300, 20), target_latency_p95_ms=1e-300)[0] is MISSING


def test_an_enormous_ratio_asks_for_the_maximum() -> None:
    assert decided(deployment(target_latency_p95_ms=1e-9), healthy(2), reading(1e9)).desired == 10


def test_prometheus_down_makes_everything_unknown_whatever_the_samples_say() -> None:
    down = MetricsReading(reading().p95, reading().rps, prometheus_down=True)
    assert standing(down) == (MISSING, MISSING)


def test_each_proposal_says_why_it_is_missing() -> None:
    evidence = weigh(reading(None, -4), deployment(**BOTH), 4, 0, 5)
    assert [it.why for it in evidence.proposals] == ["an empty answer", "a negative value"]
    failed = weigh(reading(1, 1, error="503"), deployment(**BOTH), 4, 0, 5)
    assert failed.proposals[0].why == "the query failed: 503"


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {"p95_latency_ms": "error", "rps": "error"},
        {"p95_latency_ms": NAN, "rps": NAN},
        {"p95_latency_ms": INF, "rps": -1},
        {"p95_latency_ms": 100, "rps": 1, "age": 61},
        {"p95_latency_ms": 100, "rps": 1, "series": 0},
        {"p95_latency_ms": 5000, "rps": 900, "series": 3},
    ],
)
def test_all_missing_holds_at_what_is_there(metrics: dict[str, object]) -> None:
    run = plan(BOTH, {"healthy": 4, "unhealthy": 1, "failed": 1}, metrics)
    tick = only(run)
    assert (tick["gate"], tick["ratio"], tick["desired"]) == ("metrics_unavailable", None, 4)
    assert (tick["add"], tick["stop"]) == (0, ["failed-1"])
    assert run["final"]["window"] == [{"at": 0, "desired": 4}]


def test_held_for_missing_data_desired_is_clamped_and_the_window_has_what_is_there() -> None:
    run = plan({"max_replicas": 3, "paused": {"direction": "down"}}, {"healthy": 5}, {})
    assert only(run)["desired"] == 3
    assert run["final"]["window"] == [{"at": 0, "desired": 5}]
    low = plan({"min_replicas": 3}, {"healthy": 1}, {})
    assert only(low)["desired"] == 3
    assert low["final"]["window"] == [{"at": 0, "desired": 1}]


@pytest.mark.parametrize(
    ("metrics", "desired", "added"),
    [
        ({"p95_latency_ms": None, "rps": 60}, 6, 2),
        ({"p95_latency_ms": 1000, "rps": None}, 8, 4),
        ({"p95_latency_ms": "error", "rps": 20}, 4, 0),
        ({"p95_latency_ms": 100, "rps": NAN}, 4, 0),
        ({"p95_latency_ms": 500, "rps": None}, 4, 0),
        ({"p95_latency_ms": NAN, "rps": 1}, 4, 0),
        ({"p95_latency_ms": None, "rps": 0}, 4, 0),
    ],
)
def test_one_missing_may_raise_and_never_lowers(metrics: dict[str, object], desired: int, added: int) -> None:
    run = plan(BOTH, {"healthy": 4}, metrics)
    tick = only(run)
    assert (tick["gate"], tick["desired"], tick["add"], tick["stop"]) == (None, desired, added, [])
    assert run["final"]["window"] == [{"at": 0, "desired": desired}]


def test_a_metric_without_a_target_may_be_missing() -> None:
    assert only(plan(RPS_ONLY, {"healthy": 4}, {"rps": 10}))["stop"] == ["healthy-1"]
    assert only(plan({}, {"healthy": 4}, {"p95_latency_ms": 100}))["stop"] == ["healthy-1"]


def test_idle_without_a_request_target_holds() -> None:
    tick = only(plan({}, {"healthy": 4}, {"p95_latency_ms": NAN, "rps": 0}))
    assert (tick["gate"], tick["ratio"], tick["desired"], tick["stop"]) == (None, None, 4, [])


def test_idle_with_a_request_target_goes_down_one_by_one() -> None:
    run = plan({**BOTH, "cooldown": 0}, {"healthy": 4}, {"p95_latency_ms": NAN, "rps": 0}, ticks=6)
    assert column(run, "stop") == [["healthy-1"], ["healthy-2"], ["healthy-3"], [], [], []]


def test_without_targets_nothing_can_be_missing() -> None:
    tick = only(plan({"target_latency_p95_ms": None}, {"healthy": 4, "unhealthy": 1}, {}))
    assert (tick["gate"], tick["desired"], tick["stop"]) == (None, 4, ["unhealthy-1"])


@pytest.mark.parametrize(
    ("metrics", "added", "stopped"),
    [
        ({"p95_latency_ms": 1000, "rps": 40}, 4, []),
        ({"p95_latency_ms": 100, "rps": 4}, 0, []),
        ({"p95_latency_ms": NAN, "rps": 0}, 0, []),
        ({"p95_latency_ms": 500, "rps": 40}, 0, []),
    ],
)
def test_an_answer_with_warnings_may_raise_and_never_lowers(
    metrics: dict[str, object], added: int, stopped: list[str]
) -> None:
    tick = only(plan(BOTH, {"healthy": 4}, {**metrics, "warnings": True}))
    assert (tick["gate"], tick["add"], tick["stop"], tick["window_max"]) == (None, added, stopped, 4 + added)


def test_warnings_are_no_reason_to_keep_an_unhealthy_one() -> None:
    tick = only(plan(BOTH, {"healthy": 4, "unhealthy": 1}, {"p95_latency_ms": 100, "rps": 4, "warnings": True}))
    assert tick["stop"] == ["unhealthy-1"]


def test_warnings_on_the_requests_alone_also_hold() -> None:
    metrics = MetricsReading(MetricSample(100, 0), MetricSample(4, 0, warnings=("partial",)))
    decision = decided(deployment(**BOTH), healthy(4), metrics)
    assert (decision.desired, decision.bound) == (4, LimitCode.MISSING_DATA)


def test_prometheus_down_holds_all_but_bootstrap_floor_ceiling_and_failed() -> None:
    down = [{"at": 0, "prometheus": "down"}]
    hot = {"p95_latency_ms": 2000, "rps": 90}

    def tick_of(settings: dict[str, object], replicas: object) -> dict[str, object]:
        return only(plan({**BOTH, **settings}, replicas, hot, timeline=down))

    held = tick_of({}, {"healthy": 4, "unhealthy": 1, "failed": 1})
    assert (held["gate"], held["add"], held["stop"]) == ("prometheus_down", 0, ["failed-1"])
    assert (held["latency_ratio"], held["rps_ratio"], held["ratio"], held["desired"]) == (None, None, None, 4)
    assert tick_of({"min_replicas": 2}, [])["add"] == 2
    assert tick_of({"min_replicas": 6}, {"healthy": 4})["add"] == 2
    assert tick_of({"max_replicas": 3}, {"healthy": 4})["stop"] == ["healthy-1"]


def test_prometheus_down_is_named_without_targets_too() -> None:
    run = plan({"target_latency_p95_ms": None}, {"healthy": 2}, timeline=[{"at": 0, "prometheus": "down"}])
    assert only(run)["gate"] == "prometheus_down"


def test_since_when_nothing_is_known_is_remembered_and_told() -> None:
    first = decided(deployment(), healthy(2), reading(None, None), now=0)
    assert first.learned is not None
    assert first.learned.metrics_missing_since == 0
    later = decided(deployment(), healthy(2), reading(None, None), drained(metrics_missing_since=0), now=45)
    assert later.gate is Gate.METRICS_UNAVAILABLE
    assert later.learned is not None
    assert later.learned.metrics_missing_since == 0
    assert "an empty answer" in later.reason
    assert later.reason == first.reason, "it is read later: it counts no seconds"
    back = decided(deployment(), healthy(2), reading(at=45), drained(metrics_missing_since=0), now=45)
    assert back.learned is not None
    assert back.learned.metrics_missing_since is None


def test_ratios_are_told_for_both_metrics() -> None:
    evidence = weigh(reading(750, 60), deployment(**BOTH), 4, 0, 5)
    assert evidence.ratio_of(Metric.LATENCY) == 1.5
    assert evidence.ratio_of(Metric.RPS) == 1.5
    assert [it.wanted for it in evidence.proposals] == [6, 6]


def test_without_a_healthy_replica_the_requests_have_no_ratio() -> None:
    tick = only(plan({**RPS_ONLY, "min_replicas": 1}, {"warming": 2}, {"rps": 90}))
    assert (tick["gate"], tick["rps_ratio"], tick["desired"], tick["add"]) == (None, None, 1, 0)
