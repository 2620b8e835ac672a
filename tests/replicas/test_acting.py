"""Step 9: what is added, what is removed, and what is cleared away beside it."""

import pytest

from tests.replicas.support import class_column, column, only, plan

HOT = {"p95_latency_ms": 1500, "rps": 20}
CALM = {"p95_latency_ms": 100, "rps": 20}
ON_TARGET = {"p95_latency_ms": 500, "rps": 20}
DEAD = {"p95_latency_ms": "error", "rps": "error"}


@pytest.mark.parametrize(
    ("replicas", "added"),
    [
        ({"healthy": 3}, 6),
        ({"healthy": 3, "warming": 2}, 4),
        ({"healthy": 3, "warming": 6}, 0),
        ({"healthy": 3, "warming": 7}, 0),
    ],
)
def test_only_what_is_not_coming_already_is_added(replicas: dict[str, int], added: int) -> None:
    assert only(plan({}, replicas, HOT))["add"] == added


@pytest.mark.parametrize(
    ("minimum", "unhealthy", "added", "stopped"),
    [
        (3, 0, 3, []),
        (3, 1, 3, []),
        (3, 2, 2, []),
        (3, 4, 0, []),
        (3, 9, 0, []),
        (1, 1, 3, ["unhealthy-1"]),
        (1, 2, 3, ["unhealthy-1"]),
        (1, 3, 2, ["unhealthy-1"]),
    ],
)
def test_with_unhealthy_ones_that_stay_never_more_than_one_above_the_maximum(
    minimum: int, unhealthy: int, added: int, stopped: list[str]
) -> None:
    settings = {"min_replicas": minimum, "max_replicas": 6}
    tick = only(plan(settings, {"healthy": 3, "unhealthy": unhealthy}, HOT))
    assert (tick["add"], tick["stop"]) == (added, stopped)


def test_failed_ones_take_no_room() -> None:
    tick = only(plan({"max_replicas": 6}, {"healthy": 3, "failed": 8}, HOT))
    assert (tick["add"], len(tick["stop"])) == (3, 8)


@pytest.mark.parametrize(("limit", "added"), [(None, 6), (0, 0), (1, 1), (6, 6), (50, 6)])
def test_a_limit_per_call(limit: int | None, added: int) -> None:
    assert only(plan({"scale_up_limit": limit}, {"healthy": 3}, HOT))["add"] == added


def test_one_healthy_goes_per_tick_the_oldest() -> None:
    run = plan({"cooldown": 0, "stabilization_window": 0}, {"healthy": 6}, CALM, ticks=6)
    assert column(run, "stop") == [[f"healthy-{n}"] for n in (1, 2, 3, 4, 5)] + [[]]


def test_healthy_ones_go_while_others_warm_up() -> None:
    tick = only(plan({}, {"healthy": 4, "warming": 2}, CALM))
    assert (tick["stop"], tick["add"]) == (["healthy-1"], 0)


def test_a_warming_one_is_never_terminated() -> None:
    run = plan({"cooldown": 0, "max_replicas": 3}, {"healthy": 3, "warming": 5}, CALM, ticks=8)
    assert all("warming" not in name for stopped in column(run, "stop") for name in stopped)


def test_everything_of_a_tick_is_one_call_in_the_order_failed_unhealthy_healthy() -> None:
    tick = only(plan({}, {"healthy": 12, "unhealthy": 2, "failed": 2}, CALM))
    assert tick["stop"] == ["failed-1", "failed-2", "unhealthy-1", "healthy-1"]
    assert tick["sent"]


def test_an_unhealthy_one_and_the_last_healthy_above_the_floor_can_go_together() -> None:
    tick = only(plan({"min_replicas": 2}, {"healthy": 3, "unhealthy": 1}, CALM))
    assert tick["stop"] == ["unhealthy-1", "healthy-1"]


def test_failed_ones_are_cleared_in_every_tick_that_is_not_gated() -> None:
    for settings, metrics in (({"last_scale_at": -1}, HOT), ({}, DEAD), ({"min_replicas": 9}, HOT)):
        assert only(plan(settings, {"healthy": 3, "failed": 1}, metrics))["stop"] == ["failed-1"]


@pytest.mark.parametrize(
    ("settings", "replicas", "metrics", "stopped"),
    [
        ({}, {"healthy": 2, "unhealthy": 2}, ON_TARGET, ["unhealthy-1"]),
        ({}, {"healthy": 1, "unhealthy": 2}, ON_TARGET, []),
        ({"min_replicas": 2}, {"healthy": 1, "warming": 5, "unhealthy": 1}, ON_TARGET, []),
        ({"min_replicas": 0, "last_request_at": None}, {"healthy": 0, "unhealthy": 1}, ON_TARGET, []),
        ({"last_scale_at": -119}, {"healthy": 3, "unhealthy": 1}, ON_TARGET, []),
        ({"last_scale_at": -120}, {"healthy": 3, "unhealthy": 1}, ON_TARGET, ["unhealthy-1"]),
        ({}, {"healthy": 3, "unhealthy": 1}, DEAD, []),
        ({"target_rps": 5}, {"healthy": 3, "unhealthy": 1}, {"rps": 15}, ["unhealthy-1"]),
    ],
)
def test_an_unhealthy_one_goes_above_the_floor_only_not_in_cooldown_and_not_blind(
    settings: dict[str, object], replicas: dict[str, int], metrics: dict[str, object], stopped: list[str]
) -> None:
    assert only(plan(settings, replicas, metrics))["stop"] == stopped


def test_nothing_is_sent_where_nothing_changes() -> None:
    run = plan({}, {"healthy": 3}, ON_TARGET, ticks=20)
    assert column(run, "sent") == [False] * 20


def test_a_refused_call_did_not_happen_and_is_tried_again_whole() -> None:
    run = plan(
        {"min_replicas": 3},
        {"healthy": 2, "failed": 1},
        ON_TARGET,
        ticks=3,
        timeline=[{"at": 0, "gateway": "error"}],
    )
    assert column(run, "add") == [1, 1, 0]
    assert column(run, "stop") == [["failed-1"], ["failed-1"], []]
    assert column(run, "sent") == [True, True, False]
    assert class_column(run, "warming") == [0, 0, 1]


def test_a_refused_load_driven_call_starts_no_cooldown() -> None:
    run = plan({}, {"healthy": 2}, HOT, ticks=3, timeline=[{"at": 0, "gateway": "error", "for": 10}])
    assert column(run, "gate") == [None, None, None]
    assert column(run, "add") == [4, 4, 4]
    assert run["final"]["last_scale_at"] == 10


def test_a_call_without_an_answer_counts_as_done() -> None:
    run = plan({}, {"healthy": 6}, CALM, ticks=2, timeline=[{"at": 0, "gateway": "timeout"}])
    assert column(run, "stop") == [["healthy-1"], []]
    assert column(run, "gate") == [None, "cooldown"]
    assert run["final"]["last_scale_at"] == 0


def test_a_lost_answer_to_the_floor_never_buys_twice() -> None:
    run = plan({"min_replicas": 2}, [], {}, ticks=20, timeline=[{"at": 0, "gateway": "timeout"}])
    assert sum(column(run, "add")) == 2
