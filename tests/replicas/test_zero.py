"""The zero rule: the last replica after an idle hour, and what wakes a deployment."""

import pytest

from scaling.replicas.answer import apply_answer
from scaling.replicas.decision import LimitCode, Outcome, Step
from scaling.replicas.memory import ZeroBy
from scaling.replicas.metrics import MetricSample, MetricsReading
from tests.replicas.support import NAN, column, decided, deployment, drained, healthy, only, plan, reading

IDLE = {"min_replicas": 0, "target_rps": 10, "last_request_at": -3600, "first_healthy_at": -7200}
QUIET = {"p95_latency_ms": NAN, "rps": 0}


def stopped(settings: dict[str, object], replicas: object = None, metrics: object = None, **more: object) -> object:
    return only(plan({**IDLE, **settings}, replicas or {"healthy": 1}, QUIET if metrics is None else metrics, **more))[
        "stop"
    ]


def test_after_an_idle_hour_the_last_one_goes_and_starts_a_cooldown() -> None:
    run = plan(IDLE, {"healthy": 1}, QUIET, ticks=3)
    assert column(run, "stop") == [["healthy-1"], [], []]
    assert column(run, "desired") == [0, 0, 0]
    assert column(run, "gate") == [None, "cooldown", "cooldown"]
    assert run["final"]["last_scale_at"] == 0
    assert column(run, "add") == [0, 0, 0]


@pytest.mark.parametrize(
    "settings",
    [
        {"last_request_at": -3599.9},
        {"last_request_at": None},
        {"last_request_at": 900},
        {"first_healthy_at": -3599.9},
        {"first_healthy_at": None},
        {"min_replicas": 1},
        {"last_scale_at": -119},
        {"paused": {"direction": "down"}},
    ],
)
def test_the_last_one_stays(settings: dict[str, object]) -> None:
    assert stopped(settings) == []


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {"p95_latency_ms": None, "rps": 0},
        {"p95_latency_ms": NAN, "rps": None},
        {**QUIET, "warnings": True},
        {**QUIET, "age": 61},
        {"p95_latency_ms": 100, "rps": 3},
        {"p95_latency_ms": 1000, "rps": 0},
    ],
)
def test_the_last_one_stays_while_idleness_is_not_known(metrics: dict[str, object]) -> None:
    assert stopped({}, metrics=metrics) == []


def test_idleness_told_by_a_partial_answer_is_not_known() -> None:
    idle = deployment(min_replicas=0, last_request_at=-4000)
    partial = MetricsReading(MetricSample(NAN, 0), MetricSample(0, 0, warnings=("partial",)))
    assert decided(idle, healthy(1), partial).stop == ()
    assert decided(idle, healthy(1), reading(NAN, 0)).stop == ("h1",)


def test_never_to_zero_while_prometheus_is_away() -> None:
    assert stopped({}, timeline=[{"at": 0, "prometheus": "down"}]) == []


def test_the_window_holds_the_last_one_until_every_wish_in_it_is_zero() -> None:
    assert stopped({}, window=...) == []
    assert stopped({}, window=[{"at": -10, "desired": 1}]) == []
    assert stopped({}, window=[{"at": -10, "desired": 0}]) == ["healthy-1"]


def test_the_window_must_drain_after_the_hour_is_full() -> None:
    run = plan({**IDLE, "last_request_at": -3590}, {"healthy": 1}, QUIET, ticks=70)
    gone = [tick["at"] for tick in run["ticks"] if tick["stop"]]
    assert gone == [305]


def test_it_works_without_a_request_target_and_without_any() -> None:
    assert stopped({"target_rps": None}) == ["healthy-1"]
    assert stopped({"target_rps": None, "target_latency_p95_ms": None}) == ["healthy-1"]


def test_ordinary_rules_bring_it_to_one_first() -> None:
    run = plan({**IDLE, "cooldown": 0, "stabilization_window": 0}, {"healthy": 3}, QUIET, ticks=4)
    assert column(run, "desired") == [1, 1, 0, 0]
    assert column(run, "stop") == [["healthy-1"], ["healthy-2"], ["healthy-3"], []]


def test_one_that_is_still_coming_keeps_the_last_one() -> None:
    assert stopped({}, {"healthy": 1, "warming": 1}) == []


def test_an_unhealthy_one_goes_along() -> None:
    assert stopped({}, {"healthy": 1, "unhealthy": 1}) == ["unhealthy-1", "healthy-1"]


def test_when_time_alone_is_in_the_way_it_says_until_when() -> None:
    assert only(plan({**IDLE, "last_request_at": -3590}, {"healthy": 1}, QUIET))["next_possible_at"] == 10
    young = only(plan({**IDLE, "first_healthy_at": -600}, {"healthy": 1}, QUIET))
    assert young["next_possible_at"] == 3000
    assert only(plan({**IDLE, "last_request_at": None}, {"healthy": 1}, QUIET))["next_possible_at"] is None


@pytest.mark.parametrize("last_request_at", [-3599.9, -1, 0, 500])
def test_a_request_at_zero_wakes_one_at_once(last_request_at: float) -> None:
    run = plan(
        {**IDLE, "last_request_at": last_request_at, "zero_by": "lifecycle", "last_scale_at": -5},
        [],
        QUIET,
        window=[{"at": -5, "desired": 0}],
        ticks=3,
    )
    assert column(run, "add") == [1, 0, 0]
    assert run["ticks"][0]["gate"] is None
    assert run["final"]["last_scale_at"] == -5


def test_a_wake_needs_no_metrics_and_no_prometheus() -> None:
    asked = {**IDLE, "last_request_at": -1}
    assert only(plan(asked, [], {}))["add"] == 1
    assert only(plan(asked, [], QUIET, timeline=[{"at": 0, "prometheus": "down"}]))["add"] == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"last_request_at": -3600},
        {"last_request_at": None},
        {"last_request_at": -1, "zero_by": "operator"},
        {"last_request_at": -1, "max_replicas": 0},
        {"last_request_at": -1, "paused": {"direction": "up"}},
        {"last_request_at": -1, "status": "stopped"},
    ],
)
def test_it_stays_at_zero(settings: dict[str, object]) -> None:
    assert only(plan({**IDLE, **settings}, [], QUIET))["add"] == 0


@pytest.mark.parametrize("replicas", [{"failed": 1}, {"unhealthy": 1}, [{"id": "s", "status": "stopping"}]])
def test_what_serves_nobody_does_not_keep_a_request_waiting(replicas: object) -> None:
    assert only(plan({**IDLE, "last_request_at": -1}, replicas, QUIET))["add"] == 1


def test_what_is_warming_is_not_woken_again() -> None:
    assert only(plan({**IDLE, "last_request_at": -1}, {"warming": 1}, QUIET))["add"] == 0


def test_a_wake_by_a_minimum_brings_the_minimum() -> None:
    run = plan({**IDLE, "zero_by": "lifecycle"}, [], QUIET, ticks=3, timeline=[{"at": 5, "min_replicas": 3}])
    assert column(run, "add") == [0, 3, 0]


def test_to_zero_and_back_in_one_run() -> None:
    run = plan(
        IDLE,
        {"healthy": 1},
        QUIET,
        ticks=20,
        timeline=[{"at": 20, "last_request_at": 20, "metrics": {"p95_latency_ms": 400, "rps": 5}}],
    )
    assert [tick["at"] for tick in run["ticks"] if tick["stop"]] == [0]
    assert [tick["at"] for tick in run["ticks"] if tick["add"]] == [20]
    assert run["final"]["counts"]["healthy"] == 1


def test_the_memory_knows_who_brought_it_to_zero_and_forgets_when_it_ends() -> None:
    idle = deployment(min_replicas=0, last_request_at=-4000)
    gone = decided(idle, healthy(1), reading(NAN, 0))
    assert gone.step is Step.ZERO
    memory = apply_answer(drained(), gone, Outcome.OK, 0)
    assert memory.zero_by is ZeroBy.LIFECYCLE
    still = apply_answer(memory, decided(idle, [], reading(NAN, 0), memory, 5), Outcome.NOT_SENT, 5)
    assert still.zero_by is ZeroBy.LIFECYCLE
    asked = deployment(min_replicas=0, last_request_at=9)
    awake = apply_answer(still, decided(asked, [], reading(NAN, 0), still, 10), Outcome.OK, 10)
    assert awake.zero_by is None


def test_the_scaler_records_the_zero_and_leaves_it_to_the_lifecycle_loop() -> None:
    idle = deployment(min_replicas=0, last_request_at=-4000)
    scaler = decided(idle, healthy(1), reading(NAN, 0), takes_last=False)
    assert (scaler.desired, scaler.stop, scaler.bound) == (0, (), LimitCode.LIFECYCLE)
    assert "lifecycle" in scaler.reason
    memory = apply_answer(drained(), scaler, Outcome.NOT_SENT, 0)
    lifecycle = decided(idle, healthy(1), reading(NAN, 0), memory, 5)
    assert (lifecycle.step, lifecycle.stop) == (Step.ZERO, ("h1",))


def test_the_scaler_alone_still_brings_it_to_one_and_wakes_it() -> None:
    idle = deployment(min_replicas=0, target_rps=10, last_request_at=-4000)
    assert decided(idle, healthy(2), reading(NAN, 0), takes_last=False).stop == ("h1",)
    assert decided(deployment(min_replicas=0), [], reading(NAN, 0), takes_last=False).add == 1


def test_a_refused_zero_is_no_zero() -> None:
    idle = deployment(min_replicas=0, last_request_at=-4000)
    memory = apply_answer(drained(), decided(idle, healthy(1), reading(NAN, 0)), Outcome.REFUSED, 0)
    assert (memory.zero_by, memory.last_scale_at) == (None, None)


def test_an_operators_zero_stays_the_operators() -> None:
    held = drained(zero_by=ZeroBy.OPERATOR)
    idle = deployment(min_replicas=2, last_request_at=-4000)
    gone = decided(idle, healthy(1), reading(NAN, 0), held)
    assert gone.stop == ("h1",)
    assert apply_answer(held, gone, Outcome.OK, 0).zero_by is ZeroBy.OPERATOR
