"""Steps 2 to 4: bootstrap, floor and ceiling, before any load."""

import pytest

from scaling.replicas.decision import Step
from tests.replicas.support import (
    class_column,
    column,
    decided,
    deployment,
    drained,
    healthy,
    only,
    plan,
    reading,
)

HOT = {"p95_latency_ms": 1500, "rps": 20}
CALM = {"p95_latency_ms": 50, "rps": 20}
DEAD = {"p95_latency_ms": "error", "rps": "error"}


def test_nothing_there_is_bootstrapped_to_the_minimum() -> None:
    decision = decided(deployment(min_replicas=3), [])
    assert (decision.step, decision.add, decision.gate) == (Step.BOOTSTRAP, 3, None)


def test_failed_and_leaving_ones_are_nothing_there() -> None:
    replicas = [{"id": "f", "status": "failed"}, {"id": "s", "status": "stopping", "healthy": True}]
    tick = only(plan({"min_replicas": 2}, replicas))
    assert (tick["add"], tick["stop"]) == (2, ["f"])


def test_without_a_minimum_nothing_is_bootstrapped() -> None:
    assert only(plan({"min_replicas": 0, "last_request_at": None}, []))["add"] == 0


@pytest.mark.parametrize(
    ("replicas", "added"),
    [
        ({"healthy": 1}, 2),
        ({"healthy": 1, "warming": 1}, 1),
        ({"healthy": 1, "warming": 2}, 0),
        ({"healthy": 0, "unhealthy": 5}, 3),
        ({"healthy": 2, "unhealthy": 1, "failed": 4}, 1),
    ],
)
def test_the_floor_adds_exactly_the_difference(replicas: dict[str, int], added: int) -> None:
    assert only(plan({"min_replicas": 3, "scale_up_limit": 1}, replicas))["add"] == added


def test_the_cap_of_one_above_the_maximum_does_not_hold_the_floor_back() -> None:
    tick = only(plan({"min_replicas": 3, "max_replicas": 3}, {"healthy": 0, "unhealthy": 9}))
    assert (tick["add"], tick["stop"]) == (3, [])


@pytest.mark.parametrize("metrics", [HOT, CALM, DEAD])
def test_at_the_floor_the_gate_is_null_and_the_rest_is_computed(metrics: dict[str, object]) -> None:
    run = plan({"min_replicas": 3, "last_scale_at": -1}, {"healthy": 2}, metrics)
    tick = only(run)
    assert (tick["gate"], tick["add"], tick["next_possible_at"]) == (None, 1, None)
    assert tick["desired"] == (6 if metrics is HOT else 3)
    assert len(run["final"]["window"]) == 1
    assert run["final"]["last_scale_at"] == -1


def test_the_floor_holds_while_prometheus_is_away() -> None:
    run = plan({"min_replicas": 3}, {"healthy": 2}, HOT, timeline=[{"at": 0, "prometheus": "down"}])
    assert (only(run)["gate"], only(run)["add"]) == (None, 1)


def test_load_acts_in_the_tick_after_the_floor() -> None:
    run = plan({"min_replicas": 3}, {"healthy": 2}, HOT, ticks=2)
    assert column(run, "add") == [1, 3]


def test_a_warming_floor_is_not_bought_again() -> None:
    run = plan({"min_replicas": 4, "last_request_at": None}, [], {}, ticks=14, every=5)
    assert column(run, "add") == [4] + [0] * 13
    assert class_column(run, "healthy") == [0] * 12 + [4, 4]


@pytest.mark.parametrize(
    ("replicas", "stopped"),
    [
        ({"healthy": 6}, ["healthy-1"]),
        ({"healthy": 5}, []),
        ({"healthy": 5, "warming": 1}, ["healthy-1"]),
        ({"healthy": 3, "warming": 3}, ["healthy-1"]),
        ({"healthy": 2, "warming": 4}, []),
        ({"healthy": 5, "unhealthy": 4}, ["unhealthy-1"]),
        ({"healthy": 7, "unhealthy": 2, "failed": 1}, ["failed-1", "unhealthy-1", "healthy-1"]),
    ],
)
def test_above_the_ceiling_one_healthy_goes_unless_only_the_floor_is_healthy(
    replicas: dict[str, int], stopped: list[str]
) -> None:
    assert only(plan({"min_replicas": 2, "max_replicas": 5}, replicas))["stop"] == stopped


def test_the_ceiling_takes_one_per_tick_whatever_window_cooldown_and_metrics_say() -> None:
    run = plan(
        {"max_replicas": 4, "last_scale_at": -1},
        {"healthy": 7},
        DEAD,
        window=[{"at": -5, "desired": 9}],
        ticks=5,
    )
    assert column(run, "stop") == [["healthy-1"], ["healthy-2"], ["healthy-3"], [], []]
    assert column(run, "gate") == [None, None, None, "cooldown", "cooldown"]
    assert run["final"]["last_scale_at"] == -1


def test_an_unhealthy_one_waits_in_a_ceiling_tick_in_cooldown_or_blind() -> None:
    over = {"max_replicas": 4}
    assert only(plan({**over, "last_scale_at": -1}, {"healthy": 6, "unhealthy": 1}))["stop"] == ["healthy-1"]
    assert only(plan(over, {"healthy": 6, "unhealthy": 1}, DEAD))["stop"] == ["healthy-1"]


def test_the_last_healthy_one_stays_while_warming_ones_are_the_surplus() -> None:
    assert only(plan({"min_replicas": 0, "max_replicas": 2}, {"healthy": 1, "warming": 2}))["stop"] == []


def test_a_maximum_of_nothing_takes_the_last_one_too() -> None:
    run = plan({"min_replicas": 0, "max_replicas": 0}, {"healthy": 2}, HOT, ticks=3)
    assert column(run, "stop") == [["healthy-1"], ["healthy-2"], []]
    assert column(run, "add") == [0, 0, 0]


def test_a_minimum_above_the_maximum_loses() -> None:
    assert only(plan({"min_replicas": 5, "max_replicas": 3}, []))["add"] == 3
    tick = only(plan({"min_replicas": 5, "max_replicas": 3}, {"healthy": 4}, HOT))
    assert (tick["add"], tick["stop"], tick["desired"]) == (0, ["healthy-1"], 3)


@pytest.mark.parametrize("replicas", [{"healthy": 0}, {"healthy": 0, "unhealthy": 2}, {"healthy": 2}])
def test_while_an_operator_holds_it_at_zero_nothing_is_added_by_any_step(replicas: dict[str, int]) -> None:
    run = plan({"min_replicas": 3, "zero_by": "operator"}, replicas, HOT, ticks=3)
    assert column(run, "add") == [0, 0, 0]


def test_held_at_zero_the_minimum_counts_as_zero_for_removals_too() -> None:
    held = {"min_replicas": 3, "zero_by": "operator"}
    assert only(plan(held, {"healthy": 3, "unhealthy": 1}))["stop"] == ["unhealthy-1"]
    assert only(plan(held, {"healthy": 3}, CALM))["stop"] == ["healthy-1"]


def test_resuming_brings_the_minimum_back_at_once() -> None:
    run = plan({"min_replicas": 2, "zero_by": "operator"}, [], {}, ticks=3, timeline=[{"at": 5, "zero_by": None}])
    assert column(run, "add") == [0, 2, 0]


def test_a_ceiling_removal_is_no_load_driven_change() -> None:
    decision = decided(deployment(max_replicas=2), healthy(3), reading(p95=500), drained())
    assert decision.step is Step.CEILING
    assert not decision.load_driven
