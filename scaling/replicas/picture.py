"""One tick in the few words and numbers that lists, pages, charts, API and metrics show.

What the deployment does is judged here, once, by the settings of the tick; whoever shows it reads it.
"""

from enum import StrEnum
from typing import Any

from scaling.replicas.decision import Decision, Gate, LimitCode
from scaling.replicas.deployment import Deployment
from scaling.replicas.metrics import SLACK, Metric, Standing


class State(StrEnum):
    """What a deployment does after a tick, in one word: the first that applies, in this order but for `steady`."""

    STATUS_GATE = "status_gate"
    FLEET_UNKNOWN = "fleet_unknown"
    LOST_LEASE = "lost_lease"
    PROMETHEUS_DOWN = "prometheus_down"
    ZERO = "zero"
    METRICS_UNAVAILABLE = "metrics_unavailable"
    UP = "up"
    OVER = "over"
    DOWN = "down"
    WINDOW = "window"
    UNTARGETED = "untargeted"
    STEADY = "steady"


class Flag(StrEnum):
    """What is the case with a deployment after a tick; several can be."""

    OVER = "over"
    UP = "up"
    DOWN = "down"
    ZERO = "zero"


# These say all there is to say; a pause is told by who ordered it, and a cooldown is the rest after a change.
_BY_GATE = {
    Gate.STATUS_GATE: State.STATUS_GATE,
    Gate.FLEET_UNKNOWN: State.FLEET_UNKNOWN,
    Gate.LOST_LEASE: State.LOST_LEASE,
    Gate.PROMETHEUS_DOWN: State.PROMETHEUS_DOWN,
}
_NOT_HELD_DOWN = (None, LimitCode.ONE_PER_TICK, LimitCode.COOLDOWN)


def picture_of(decision: Decision, settings: Deployment, missing_since: float | None) -> dict[str, Any]:
    """The tick as JSON: None is unknown, never zero, and "" no gate or limiter. Times are Unix seconds.

    `missing_since` is since when nothing is known of the load.
    """
    evidence, counts, metrics = decision.evidence, decision.counts, decision.metrics
    values = {it.metric: it.value for it in evidence.proposals if it.standing is Standing.KNOWN} if evidence else {}
    return {
        "state": state_of(decision, settings).value,
        "flags": [flag.value for flag in flags_of(decision, settings)],
        "gate": decision.gate.value if decision.gate else "",
        "bound": decision.bound.value if decision.bound else "",
        "step": decision.step.value,
        "reason": decision.reason,
        "healthy": counts.healthy if counts else None,
        "warming": counts.warming if counts else None,
        "unhealthy": counts.unhealthy if counts else None,
        "failed": counts.failed if counts else None,
        "coming": counts.healthy + counts.warming if counts else None,
        "desired": decision.desired,
        "window_max": decision.window_max,
        "add": decision.add,
        "stop": len(decision.stop),
        "outcome": decision.outcome.value,
        "p95_ms": values.get(Metric.LATENCY, _plain(metrics.p95.value)),
        "rps": values.get(Metric.RPS, _plain(metrics.rps.value)),
        "latency_ratio": evidence.ratio_of(Metric.LATENCY) if evidence else None,
        "rps_ratio": evidence.ratio_of(Metric.RPS) if evidence else None,
        "ratio": evidence.ratio if evidence else None,
        "next_possible_at": decision.next_possible_at,
        "metrics_missing_since": missing_since,
    }


def state_of(decision: Decision, settings: Deployment) -> State:
    """The word that says best what the tick left the deployment doing."""
    if decision.gate in _BY_GATE:
        return _BY_GATE[decision.gate]
    applies = (
        (State.ZERO, is_at_zero(decision)),
        (State.METRICS_UNAVAILABLE, _lacks_metrics(decision)),
        (State.UP, is_going_up(decision)),
        (State.OVER, is_over(decision, settings)),
        (State.DOWN, is_going_down(decision)),
        (State.WINDOW, decision.bound is LimitCode.WINDOW),
        (State.UNTARGETED, not (settings.target_latency_p95_ms or settings.target_rps)),
    )
    return next((state for state, it_does in applies if it_does), State.STEADY)


def flags_of(decision: Decision, settings: Deployment) -> list[Flag]:
    """All that is the case."""
    applies = (
        (Flag.OVER, is_over(decision, settings)),
        (Flag.UP, is_going_up(decision)),
        (Flag.DOWN, is_going_down(decision)),
        (Flag.ZERO, is_at_zero(decision)),
    )
    return [flag for flag, it_does in applies if it_does]


def is_over(decision: Decision, settings: Deployment) -> bool:
    """The load is above the target by more than the tolerance."""
    ratio = decision.evidence.ratio if decision.evidence else None
    return ratio is not None and ratio > 1 + settings.tolerance + SLACK


def is_at_zero(decision: Decision) -> bool:
    """There is no replica, none comes and none was asked for."""
    counts = decision.counts
    return counts is not None and not (counts.healthy or counts.warming or decision.add)


def _lacks_metrics(decision: Decision) -> bool:
    """Nothing is known of a load that somebody serves; where nobody does, there is nothing to measure."""
    return decision.gate is Gate.METRICS_UNAVAILABLE and not (decision.counts and decision.counts.healthy == 0)


def is_going_up(decision: Decision) -> bool:
    """Replicas were asked for, are warming up, or will be asked for when the cooldown is over."""
    counts = decision.counts
    if decision.add or (counts and counts.warming):
        return True
    coming = counts.healthy + counts.warming if counts else 0
    return decision.gate is Gate.COOLDOWN and decision.desired is not None and decision.desired > coming


def is_going_down(decision: Decision) -> bool:
    """One is removed at a time, each followed by a cooldown: both are the same way down."""
    counts, desired = decision.counts, decision.desired
    if desired is None or counts is None or desired >= counts.healthy:
        return False
    return decision.gate is Gate.COOLDOWN or (decision.gate is None and decision.bound in _NOT_HELD_DOWN)


def _plain(value: float | None) -> float | None:
    """A number that JSON has and a chart can draw; NaN and infinities are unknown."""
    return value if value is not None and 0 <= value < float("inf") else None
