"""Step 5: after a load-driven change the deployment rests, and keeps wishing meanwhile."""

import pytest

from tests.replicas.support import column, only, plan

HOT = {"p95_latency_ms": 1000, "rps": 20}
CALM = {"p95_latency_ms": 100, "rps": 20}


@pytest.mark.parametrize(("age", "gate"), [(0, "cooldown"), (119.9, "cooldown"), (120, None), (500, None)])
def test_less_than_the_cooldown_holds(age: float, gate: str | None) -> None:
    assert only(plan({"last_scale_at": -age}, {"healthy": 4}, HOT))["gate"] == gate


def test_edges_hold_despite_binary_noise() -> None:
    run = plan({"cooldown": 0.3, "last_scale_at": 0.1}, {"healthy": 4}, HOT, now=0.4)
    assert only(run)["gate"] is None


def test_the_cooldown_can_be_set_and_a_zero_one_never_holds() -> None:
    assert only(plan({"cooldown": 10, "last_scale_at": -11}, {"healthy": 4}, HOT))["gate"] is None
    run = plan({"cooldown": 0, "scale_up_limit": 1}, {"healthy": 4}, HOT, ticks=3)
    assert column(run, "add") == [1, 1, 1]


@pytest.mark.parametrize(("metrics", "desired"), [(HOT, 8), (CALM, 1)])
def test_what_it_would_have_wanted_is_recorded_and_put_into_the_window(
    metrics: dict[str, object], desired: int
) -> None:
    run = plan({"last_scale_at": -30}, {"healthy": 4}, metrics)
    tick = only(run)
    assert (tick["gate"], tick["desired"], tick["add"], tick["stop"]) == ("cooldown", desired, 0, [])
    assert tick["next_possible_at"] == 90
    assert run["final"]["window"] == [{"at": 0, "desired": desired}]


def test_cooldown_is_named_before_missing_metrics_and_prometheus() -> None:
    missing = plan({"last_scale_at": -30}, {"healthy": 4}, {})
    down = plan({"last_scale_at": -30}, {"healthy": 4}, HOT, timeline=[{"at": 0, "prometheus": "down"}])
    for run in (missing, down):
        assert only(run)["gate"] == "cooldown"
        assert run["final"]["window"] == [{"at": 0, "desired": 4}]


def test_a_load_driven_add_and_a_load_driven_removal_start_it() -> None:
    assert plan({}, {"healthy": 4}, HOT)["final"]["last_scale_at"] == 0
    assert plan({}, {"healthy": 4}, CALM)["final"]["last_scale_at"] == 0


@pytest.mark.parametrize(
    ("settings", "replicas"),
    [
        ({"min_replicas": 2}, []),
        ({"min_replicas": 2}, {"healthy": 1}),
        ({"max_replicas": 2}, {"healthy": 3}),
        ({}, {"healthy": 3, "failed": 2}),
        ({}, {"healthy": 3, "unhealthy": 2}),
        ({}, {"healthy": 3}),
    ],
)
def test_bootstrap_floor_ceiling_and_clean_up_start_none(settings: dict[str, object], replicas: object) -> None:
    assert plan(settings, replicas)["final"]["last_scale_at"] is None


def test_a_wish_that_the_cap_cut_to_nothing_starts_none() -> None:
    run = plan({"min_replicas": 2, "max_replicas": 4}, {"healthy": 2, "unhealthy": 3}, HOT)
    assert (only(run)["add"], run["final"]["last_scale_at"]) == (0, None)


def test_clean_up_beside_a_load_driven_change_starts_it_once() -> None:
    run = plan({}, {"healthy": 4, "unhealthy": 2}, HOT, ticks=3)
    assert column(run, "stop") == [["unhealthy-1"], [], []]
    assert run["final"]["last_scale_at"] == 0


def test_a_last_change_in_the_future_reads_as_now() -> None:
    tick = only(plan({"last_scale_at": 500}, {"healthy": 4}, HOT))
    assert (tick["gate"], tick["next_possible_at"]) == ("cooldown", 120)


def test_a_hot_deployment_grows_in_steps_of_a_cooldown() -> None:
    run = plan({"max_replicas": 30}, {"healthy": 2}, HOT, ticks=50, every=5)
    adds = [(tick["at"], tick["add"]) for tick in run["ticks"] if tick["add"]]
    assert adds == [(0, 2), (120, 4), (240, 8)]
