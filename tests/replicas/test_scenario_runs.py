"""Section 5: how a scenario's clock, fleet, timeline and Gateway behave."""

import pytest

from tests.replicas.support import class_column, column, only, plan

HOT = {"p95_latency_ms": 1000, "rps": 20}
CALM = {"p95_latency_ms": 100, "rps": 20}
NO_LOAD = {"target_latency_p95_ms": None}


def test_ticks_come_every_so_often_from_now_on() -> None:
    run = plan({}, {"healthy": 1}, now=1000, ticks=3, every=0.1)
    assert column(run, "at") == [1000, 1000.1, 1000.2]


def test_counts_stand_for_numbered_replicas_the_first_the_oldest() -> None:
    run = plan({"cooldown": 0, "stabilization_window": 0, "max_replicas": 40}, {"healthy": 12}, CALM, ticks=11)
    assert column(run, "stop")[:9] == [[f"healthy-{n}"] for n in range(1, 10)]
    failed = only(plan({}, {"healthy": 1, "failed": 11}))["stop"]
    assert failed == [f"failed-{n}" for n in range(1, 12)]


def test_added_ones_leave_in_the_order_they_were_asked_for() -> None:
    run = plan(
        {"cooldown": 0, "stabilization_window": 0, "max_replicas": 20},
        {"healthy": 1},
        {"p95_latency_ms": 6000, "rps": 1},
        ticks=14,
        warmup_seconds=5,
        timeline=[{"at": 5, "metrics": CALM}],
    )
    assert column(run, "stop")[1:5] == [["healthy-1"], ["added-1"], ["added-2"], ["added-3"]]
    assert column(run, "stop")[10] == ["added-9"]


@pytest.mark.parametrize(("warmup", "healthy_from"), [(0, 5), (5, 5), (60, 60), (7, 10)])
def test_added_ones_turn_healthy_after_the_warm_up_at_that_very_tick(warmup: float, healthy_from: int) -> None:
    run = plan({"min_replicas": 2}, [], {}, ticks=14, warmup_seconds=warmup)
    first = next(tick["at"] for tick in run["ticks"] if tick["counts"]["healthy"] == 2)
    assert first == healthy_from


def test_warming_ones_given_at_the_start_turn_healthy_too() -> None:
    run = plan({}, {"healthy": 1, "warming": 2}, ticks=3, every=30)
    assert class_column(run, "healthy") == [1, 1, 3]
    assert class_column(run, "warming") == [2, 2, 0]


def test_listed_warming_ones_turn_healthy_too_and_others_do_not() -> None:
    replicas = [
        {"id": "a", "healthy": True, "created": -9000, "last_health_check": -10},
        {"id": "new", "status": "pending", "created": -600},
        {"id": "ill", "created": -9000, "last_health_check": -10},
    ]
    run = plan({**NO_LOAD, "last_scale_at": -1}, replicas, ticks=3, every=30)
    assert class_column(run, "healthy") == [1, 1, 2]
    assert class_column(run, "unhealthy") == [1, 1, 1]


def test_a_long_warm_up_outlasts_the_hour_of_grace() -> None:
    run = plan({"min_replicas": 1}, [], {}, warmup_seconds=4000, ticks=3, every=2000)
    assert class_column(run, "unhealthy") == [0, 0, 0]
    assert class_column(run, "healthy") == [0, 0, 1]
    hours = plan({"min_replicas": 1}, [], {}, warmup_seconds=9000, ticks=3, every=3600)
    assert class_column(hours, "unhealthy") == [0, 1, 2]
    assert column(hours, "add") == [1, 1, 1]


def test_listed_ones_keep_being_checked() -> None:
    replicas = [
        {"id": "fresh", "healthy": True, "created": -9000, "last_health_check": -50},
        {"id": "stale", "healthy": True, "created": -9000, "last_health_check": -61},
        {"id": "never", "healthy": True, "created": -9000},
    ]
    run = plan(NO_LOAD, replicas, ticks=3, every=100)
    assert class_column(run, "healthy") == [1, 1, 1]
    assert class_column(run, "unhealthy") == [2, 2, 2]


def test_one_seen_healthy_earlier_in_the_run_was_healthy() -> None:
    new = {"id": "new", "created": -60, "last_health_check": -5}
    other = {"id": "other", "created": -60, "last_health_check": -5}
    base = {"id": "base", "healthy": True, "created": -9000, "last_health_check": -5}
    run = plan(
        {**NO_LOAD, "min_replicas": 0},
        [base, {**new, "healthy": True}],
        ticks=2,
        timeline=[{"at": 5, "replicas": [base, new, other]}],
    )
    assert class_column(run, "healthy") == [2, 1]
    assert class_column(run, "warming") == [0, 1]
    assert column(run, "stop") == [[], ["new"]]


def test_a_count_says_the_class_whatever_bore_the_id_before() -> None:
    run = plan(
        NO_LOAD,
        {"healthy": 1, "warming": 1},
        ticks=3,
        every=60,
        timeline=[{"at": 120, "replicas": {"healthy": 1, "warming": 1}}],
    )
    assert class_column(run, "warming") == [1, 0, 1]


def test_warming_ones_of_a_later_block_warm_up_from_its_time() -> None:
    run = plan(
        NO_LOAD,
        {"healthy": 1},
        ticks=6,
        every=20,
        timeline=[{"at": 30, "replicas": {"healthy": 1, "warming": 1}}],
    )
    assert class_column(run, "warming") == [0, 0, 1, 1, 1, 0]


def test_a_later_block_replaces_the_whole_block() -> None:
    run = plan(
        {"target_rps": 10},
        {"healthy": 4},
        {"p95_latency_ms": 500, "rps": 40},
        ticks=2,
        timeline=[{"at": 5, "replicas": {"unhealthy": 1, "healthy": 2}, "metrics": {"rps": 60}}],
    )
    later = run["ticks"][1]
    assert later["counts"] == {"healthy": 2, "warming": 0, "unhealthy": 1, "failed": 0}
    assert (later["latency_ratio"], later["rps_ratio"]) == (None, 3)


def test_with_for_an_entry_ends_and_what_was_before_is_back() -> None:
    run = plan(
        NO_LOAD,
        {"healthy": 3},
        ticks=5,
        every=10,
        timeline=[{"at": 10, "for": 20, "replicas": "error"}, {"at": 20, "for": 10, "lease": "lost"}],
    )
    assert column(run, "gate") == [None, "fleet_unknown", "fleet_unknown", None, None]
    assert run["final"]["counts"]["healthy"] == 3


def test_of_entries_that_hold_together_the_later_one_wins() -> None:
    run = plan(
        {},
        {"healthy": 4},
        ticks=4,
        every=10,
        timeline=[
            {"at": 20, "for": 10, "min_replicas": 3},
            {"at": 10, "min_replicas": 2},
            {"at": 0, "min_replicas": 4},
        ],
        metrics=CALM,
    )
    assert column(run, "desired") == [4, 2, 3, 2]


def test_an_entry_before_the_start_holds_from_the_start() -> None:
    run = plan({}, {"healthy": 4}, now=100, timeline=[{"at": 5, "metrics": HOT}])
    assert only(run)["ratio"] == 2


def test_an_entry_between_two_ticks_is_never_seen() -> None:
    run = plan({}, {"healthy": 4}, ticks=3, every=10, timeline=[{"at": 11, "for": 5, "metrics": HOT}])
    assert column(run, "ratio") == [1, 1, 1]


@pytest.mark.parametrize(("answer", "adds"), [("error", [1, 1, 1, 0]), ("timeout", [1, 1, 0, 0])])
def test_a_gateway_entry_without_for_is_about_one_tick(answer: str, adds: list[int]) -> None:
    run = plan(
        {"cooldown": 0, "scale_up_limit": 1}, {"healthy": 2}, HOT, ticks=4, timeline=[{"at": 3, "gateway": answer}]
    )
    assert column(run, "add") == adds


def test_a_gateway_entry_in_a_tick_that_sends_nothing_is_over_all_the_same() -> None:
    run = plan({}, {"healthy": 2}, ticks=3, timeline=[{"at": 0, "gateway": "error"}, {"at": 5, "metrics": HOT}])
    assert column(run, "add") == [0, 2, 0]


def test_the_age_is_the_age_at_each_tick() -> None:
    run = plan({}, {"healthy": 2}, {**HOT, "age": 59}, ticks=3, every=25)
    assert column(run, "ratio") == [2, 2, 2]
    old = plan({}, {"healthy": 2}, {**HOT, "age": 61}, ticks=3, every=25)
    assert set(column(old, "gate")) == {"metrics_unavailable"}


def test_prometheus_comes_back_by_for_or_by_name() -> None:
    timeline = [{"at": 5, "prometheus": "down"}, {"at": 15, "prometheus": "up"}]
    run = plan({}, {"healthy": 2}, ticks=4, timeline=timeline)
    assert column(run, "gate") == [None, "prometheus_down", "prometheus_down", None]


def test_what_the_scaler_remembers_can_be_set_for_a_while() -> None:
    run = plan(
        {"zero_by": None, "min_replicas": 2},
        {"healthy": 0},
        {},
        ticks=4,
        timeline=[{"at": 0, "for": 10, "zero_by": "operator"}],
    )
    assert column(run, "add") == [0, 0, 2, 0]


def test_a_last_change_set_in_the_timeline_does_not_hide_later_ones() -> None:
    run = plan({"cooldown": 20}, {"healthy": 2}, HOT, ticks=8, timeline=[{"at": 0, "last_scale_at": -5}])
    assert column(run, "gate")[:4] == ["cooldown"] * 3 + [None]
    assert run["final"]["last_scale_at"] == 15


def test_the_final_counts_are_those_after_the_last_call() -> None:
    run = plan({}, {"healthy": 4, "unhealthy": 1, "failed": 2}, HOT)
    assert run["final"]["counts"] == {"healthy": 4, "warming": 4, "unhealthy": 0, "failed": 0}
    refused = plan({}, {"healthy": 4, "failed": 2}, HOT, timeline=[{"at": 0, "gateway": "error"}])
    assert refused["final"]["counts"] == {"healthy": 4, "warming": 0, "unhealthy": 0, "failed": 2}


def test_the_same_scenario_always_gives_the_same_report() -> None:
    def once() -> object:
        return plan({"target_rps": 3}, {"healthy": 3, "warming": 1, "unhealthy": 2}, HOT, ticks=50, every=30)

    assert once() == once()


def test_an_hour_of_ticks_keeps_the_window_bounded() -> None:
    run = plan({}, {"healthy": 3}, ticks=720)
    assert len(run["final"]["window"]) == 60


def test_every_tick_has_exactly_the_agreed_keys() -> None:
    keys = "at gate reason counts latency_ratio rps_ratio ratio desired window_max add stop sent next_possible_at"
    run = plan({}, {"healthy": 1})
    assert list(only(run)) == keys.split()
    assert list(run["final"]) == ["counts", "last_scale_at", "window"]


def test_what_is_set_between_two_ticks_only_is_never_remembered() -> None:
    run = plan({"min_replicas": 2}, [], {}, ticks=3, timeline=[{"at": -3, "for": 2, "zero_by": "operator"}])
    assert column(run, "add") == [2, 0, 0]
