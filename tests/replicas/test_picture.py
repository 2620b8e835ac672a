"""What a tick left a deployment doing is judged with the tick, in one word and a few flags."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.replicas.decision import Decision, Gate, LimitCode
from scaling.replicas.deployment import Pause, PauseDirection
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricsReading
from scaling.replicas.picture import Flag, State, picture_of, state_of
from scaling.replicas.replica import Counts
from tests.replicas.support import NAN, OLD, decided, deployment, drained, healthy, reading

UNKNOWN = reading(None, None)


def picture(decision: Decision, **settings: Any) -> dict[str, Any]:
    return picture_of(decision, deployment(**settings), None)


@pytest.mark.parametrize(
    ("state", "made"),
    [
        (State.STATUS_GATE, (deployment(status="stopped"), healthy(2), reading(), None)),
        (State.FLEET_UNKNOWN, (deployment(), None, reading(), None)),
        (State.PROMETHEUS_DOWN, (deployment(), healthy(2), MetricsReading(prometheus_down=True), None)),
        (State.METRICS_UNAVAILABLE, (deployment(), healthy(2), UNKNOWN, None)),
        (State.ZERO, (deployment(min_replicas=0, last_request_at=-9e5), [], UNKNOWN, None)),
        (State.UP, (deployment(), healthy(2), reading(900), drained())),
        (State.OVER, (deployment(max_replicas=2), healthy(2), reading(900), drained())),
        (State.DOWN, (deployment(), healthy(4), reading(100, 1), drained())),
        (State.WINDOW, (deployment(), healthy(4), reading(100, 1), ScalerMemory(first_healthy_at=OLD))),
        (State.UNTARGETED, (deployment(target_latency_p95_ms=None), healthy(2), reading(900), drained())),
        (State.STEADY, (deployment(), healthy(2), reading(500), drained())),
    ],
)
def test_each_state_is_told_where_it_is_the_case(state: State, made: Any) -> None:
    settings, replicas, metrics, memory = made
    decision = decided(settings, replicas, metrics, memory)
    assert picture_of(decision, settings, None)["state"] == state


def test_a_lost_lease_says_all_there_is_to_say() -> None:
    decision = decided(deployment(), healthy(2), reading(900), drained())
    assert state_of(replace(decision, gate=Gate.LOST_LEASE), deployment()) is State.LOST_LEASE


def test_a_cooldown_hides_neither_the_way_up_nor_the_way_down() -> None:
    cooling = drained(last_scale_at=-10.0)
    up = picture(decided(deployment(), healthy(2), reading(900), cooling))
    assert (up["gate"], up["state"], up["flags"]) == ("cooldown", "up", ["over", "up"])
    down = picture(decided(deployment(), healthy(4), reading(100, 1), cooling))
    assert (down["gate"], down["state"], down["flags"]) == ("cooldown", "down", ["down"])


def test_over_is_judged_by_the_tolerance_of_the_tick_and_not_by_binary_noise() -> None:
    decision = decided(deployment(tolerance=0.1), healthy(2), reading(550), drained())
    assert picture(decision, tolerance=0.1)["flags"] == []
    assert "over" in picture(decision, tolerance=0.09)["flags"]


def test_missing_metrics_of_what_nobody_serves_are_not_missed() -> None:
    decision = decided(deployment(), healthy(2), UNKNOWN)
    assert decision.gate is Gate.METRICS_UNAVAILABLE
    nobody = replace(decision, counts=Counts(0, 1, 0, 0))
    assert state_of(nobody, deployment()) is State.UP


def test_a_paused_tick_counts_its_replicas_and_judges_no_load() -> None:
    told = picture(decided(deployment(pause=Pause(direction=PauseDirection.BOTH)), healthy(2), reading(900)))
    assert (told["gate"], told["healthy"], told["flags"]) == ("paused", 2, [])


@given(
    p95=st.one_of(st.none(), st.floats(allow_nan=True)),
    rps=st.one_of(st.none(), st.floats(allow_nan=True)),
    count=st.integers(0, 12),
    low=st.integers(0, 3),
    ready=st.booleans(),
)
def test_every_picture_is_plain_json_and_agrees_with_its_decision(
    p95: float | None, rps: float | None, count: int, low: int, ready: bool
) -> None:
    settings = deployment(min_replicas=low, target_rps=10)
    decision = decided(settings, healthy(count), reading(p95, rps), drained() if ready else None)
    told = picture_of(decision, settings, None)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    flags = set(told["flags"])
    assert (Flag.ZERO in flags) == (count == 0 and not told["add"])
    assert not {Flag.UP, Flag.DOWN} <= flags
    assert (Flag.OVER in flags) == (told["ratio"] is not None and told["ratio"] > 1.1 + 1e-9)
    assert told["bound"] == "" or told["bound"] in set(LimitCode)
    assert not any(isinstance(value, float) and math.isnan(value) for value in (told["p95_ms"], told["rps"]))


def test_a_latency_that_is_no_number_is_unknown() -> None:
    told = picture(decided(deployment(), healthy(2), reading(NAN, 20), drained()))
    assert told["p95_ms"] is None or math.isfinite(told["p95_ms"])
