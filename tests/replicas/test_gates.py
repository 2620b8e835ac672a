"""Step 1: what stops a tick altogether, in which order, and what a one-sided pause leaves running."""

from typing import Any

import pytest

from scaling.replicas.decision import Gate
from scaling.replicas.deployment import Pause
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.memory import Asked
from tests.replicas.support import column, decided, deployment, drained, healthy, only, plan, reading

HOT = {"p95_latency_ms": 1000, "rps": 20}
CALM = {"p95_latency_ms": 100, "rps": 20}
BLIND_FLEET = FleetCheck(replicas=20, stale=11)


def test_the_gates_are_checked_in_order() -> None:
    shut = {"pause": Pause(), "status": "stopped"}
    everything: dict[str, Any] = {"fleet": BLIND_FLEET, "lease_held": False}
    assert decided(deployment(**shut), None, **everything).gate is Gate.PAUSED
    assert decided(deployment(status="stopped"), None, **everything).gate is Gate.STATUS_GATE
    assert decided(deployment(), None, lease_held=False).gate is Gate.FLEET_UNKNOWN
    assert decided(deployment(), healthy(2), fleet=BLIND_FLEET, lease_held=False).gate is Gate.FLEET_UNKNOWN
    assert decided(deployment(), healthy(2), lease_held=False).gate is Gate.LOST_LEASE
    assert decided(deployment(), healthy(2)).gate is None


def test_a_gated_tick_leaves_the_memory_as_it_was() -> None:
    memory = drained(asked=(Asked(-400, 2, frozenset()),), metrics_missing_since=-9)
    decision = decided(deployment(status="stopped"), healthy(1), memory=memory)
    assert decision.learned is None
    assert not decision.sent


@pytest.mark.parametrize(
    ("settings", "more", "gate"),
    [
        ({"paused": True}, {}, "paused"),
        ({"paused": {"direction": "both", "until": 1}}, {}, "paused"),
        ({"status": "stopped"}, {}, "status_gate"),
        ({"status": "paused"}, {}, "status_gate"),
        ({}, {"lease": "lost"}, "lost_lease"),
    ],
)
def test_a_gated_tick_does_nothing_computes_nothing_and_writes_nothing(
    settings: dict[str, object], more: dict[str, object], gate: str
) -> None:
    run = plan({"min_replicas": 3, **settings}, {"healthy": 1, "failed": 2, "unhealthy": 1}, HOT, **more)
    tick = only(run)
    assert tick["gate"] == gate
    assert (tick["add"], tick["stop"], tick["sent"]) == (0, [], False)
    assert {tick[key] for key in ("desired", "ratio", "latency_ratio", "rps_ratio", "window_max")} == {None}
    assert run["final"]["window"] == []
    assert tick["reason"].endswith(".")


def test_what_is_there_is_still_counted_when_paused_but_not_when_the_list_is_unknown() -> None:
    assert only(plan({"paused": True}, {"healthy": 2}))["counts"]["healthy"] == 2
    unknown = plan({}, "error")
    assert only(unknown)["counts"] is None
    assert unknown["final"]["counts"] is None


def test_created_is_a_status_that_is_scaled() -> None:
    assert only(plan({"status": "created"}, [], HOT))["add"] == 1


def test_a_gated_tick_keeps_the_stored_window_with_what_has_expired() -> None:
    stored = [{"at": -900, "desired": 4}, {"at": -10, "desired": 2}]
    assert plan({}, "error", window=stored)["final"]["window"] == stored


def test_a_pause_is_over_at_its_end_and_says_when_that_is() -> None:
    run = plan({"paused": {"until": 60}}, {"healthy": 4}, HOT, ticks=3, every=30)
    assert column(run, "gate") == ["paused", "paused", None]
    assert column(run, "next_possible_at")[:2] == [60, 60]
    assert column(run, "add") == [0, 0, 4]


def test_a_pause_without_an_end_says_no_time() -> None:
    assert only(plan({"paused": True}, {"healthy": 4}, HOT))["next_possible_at"] is None


def test_paused_upwards_stops_every_add_the_floor_and_the_bootstrap_included() -> None:
    up = {"paused": {"direction": "up"}}
    for settings, replicas in (
        ({"min_replicas": 3}, {"healthy": 1}),
        ({"min_replicas": 3}, []),
        ({}, {"healthy": 4}),
        ({"min_replicas": 0}, []),
    ):
        tick = only(plan({**settings, **up}, replicas, HOT))
        assert (tick["gate"], tick["add"]) == (None, 0)


def test_paused_upwards_still_removes_what_is_too_much_and_what_failed() -> None:
    up = {"paused": {"direction": "up"}}
    assert only(plan(up, {"healthy": 4, "failed": 1}, CALM))["stop"] == ["failed-1", "healthy-1"]
    assert only(plan({**up, "max_replicas": 3}, {"healthy": 4}))["stop"] == ["healthy-1"]
    assert only(plan(up, {"healthy": 4, "unhealthy": 1}))["stop"] == ["unhealthy-1"]


def test_paused_downwards_stops_every_healthy_removal_the_ceiling_and_the_zero_included() -> None:
    down = {"paused": {"direction": "down"}}
    assert only(plan(down, {"healthy": 4}, CALM))["stop"] == []
    assert only(plan({**down, "max_replicas": 3}, {"healthy": 4}))["stop"] == []
    idle = {"min_replicas": 0, "last_request_at": -4000}
    assert only(plan({**idle, **down}, {"healthy": 1}, {"p95_latency_ms": float("nan"), "rps": 0}))["stop"] == []


def test_paused_downwards_still_adds() -> None:
    down = {"paused": {"direction": "down"}}
    assert only(plan(down, {"healthy": 4}, HOT))["add"] == 4
    assert only(plan({**down, "min_replicas": 3}, {"healthy": 1}))["add"] == 2


def test_a_one_sided_pause_still_writes_the_window_and_shows_when_it_ends() -> None:
    run = plan({"paused": {"direction": "down", "until": 90}}, {"healthy": 4}, CALM)
    assert run["final"]["window"] == [{"at": 0, "desired": 1}]
    assert only(run)["next_possible_at"] == 90


def test_a_one_sided_pause_leaves_the_later_gates_in_force() -> None:
    run = plan({"paused": {"direction": "up"}, "last_scale_at": -10}, {"healthy": 4}, HOT)
    assert only(run)["gate"] == "cooldown"
    blind = plan({"paused": {"direction": "down"}, "max_replicas": 3}, {"healthy": 4}, {})
    assert (only(blind)["gate"], only(blind)["stop"]) == ("metrics_unavailable", [])


def test_a_one_sided_pause_can_begin_and_end_in_the_timeline() -> None:
    run = plan(
        {"cooldown": 0},
        {"healthy": 4},
        CALM,
        ticks=4,
        timeline=[{"at": 5, "for": 10, "paused": {"direction": "down"}}],
    )
    assert column(run, "stop") == [["healthy-1"], [], [], ["healthy-2"]]


def test_the_reasons_name_the_span_the_status_and_the_lease() -> None:
    ends = decided(deployment(pause=Pause(until=30)), healthy(1))
    assert "until a set time" in ends.reason and ends.next_possible_at == 30
    assert "until it is resumed" in decided(deployment(pause=Pause()), healthy(1)).reason
    assert "deleting" in decided(deployment(status="deleting"), healthy(1)).reason
    assert "lease" in decided(deployment(), healthy(1), lease_held=False).reason
    assert "could not be read" in decided(deployment(), None, reading()).reason
    assert "11 of 20" in decided(deployment(), healthy(1), fleet=BLIND_FLEET).reason
