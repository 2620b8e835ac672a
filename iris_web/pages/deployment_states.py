"""What a deployment is doing, in one word, and what keeps it from doing more, in a few.

What a tick left it doing the tick itself has judged (scaling.replicas.picture); `code_of` adds what was ordered since,
and whether anybody scales it at all.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from iris_web.pages import states
from iris_web.pages.states import Look, Tone
from scaling.models import Deployment, PauseDirection
from scaling.operations.deployment_fields import in_force
from scaling.operations.deployments import is_paused
from scaling.replicas.decision import Gate, LimitCode
from scaling.replicas.picture import State
from scaling.scalers import assigned

# In the order of a list by state: what needs a person first.
DEPLOYMENT: dict[str, Look] = {
    "unassigned": Look("no scaler", Tone.BAD, "plug", "No instance has taken it: nobody scales it."),
    "fleet_unknown": Look("replicas unknown", Tone.BAD, "stop", "Its replicas could not be read; that is not none."),
    "prometheus_down": Look("Prometheus away", Tone.BAD, "stop", "Its load is unknown: held where it is."),
    "metrics_unavailable": Look("metrics missing", Tone.BAD, "diamond", "Its load is unknown: held where it is."),
    "not_listed": Look("not listed", Tone.WARN, "question", "The Gateway's list leaves it out; it is held as it is."),
    "over": Look("over target", Tone.WARN, "gauge", "The load is above its target by more than the tolerance."),
    "lost_lease": Look("changing hands", Tone.COMING, "half", "Another scaler takes it over."),
    "up": Look("scaling up", Tone.COMING, "up", "Replicas were asked for or are warming up."),
    "down": Look("scaling down", Tone.COMING, "down", "It goes down, one replica at a time."),
    "window": Look("waits to shrink", Tone.CALM, "clock", "Fewer would do; the stabilization window is not over."),
    "paused": Look("paused", Tone.HELD, "pause", "An operator paused it: nothing is added or removed."),
    "paused_up": Look("adding paused", Tone.HELD, "pause", "An operator stopped all adding; removing goes on."),
    "paused_down": Look("removing paused", Tone.HELD, "pause", "An operator stopped all removing; adding goes on."),
    "held_zero": Look("held at zero", Tone.HELD, "lock", "An operator holds it at zero until it is woken."),
    "zero": Look("at zero", Tone.CALM, "dashed", "It has no replica; a request or a minimum wakes it."),
    "untargeted": Look("no target", Tone.CALM, "eye", "Neither latency nor requests have a target."),
    "status_gate": Look("not running", Tone.CALM, "minus", "Only a running or created one is scaled."),
    "new": Look("not looked at yet", Tone.CALM, "ring", "No tick of its scaler has told its state yet."),
    "steady": Look("on target", Tone.GOOD, "disc", "The load is within the tolerance of its target, or below it."),
}

REPLICA: dict[str, Look] = {
    "healthy": Look("healthy", Tone.GOOD, "disc", "Capacity; may be removed when the load allows it."),
    "warming": Look("warming", Tone.COMING, "half", "Counted as coming, not as capacity; never removed."),
    "unhealthy": Look("unhealthy", Tone.WARN, "warn", "Neither capacity nor coming; removed above the minimum only."),
    "failed": Look("failed", Tone.BAD, "cross", "Removed in any tick that is not gated."),
    "draining": Look("draining", Tone.HELD, "minus", "On its way out: neither capacity nor load."),
}

OUTCOME: dict[str, Look] = {
    "not_sent": Look("nothing sent", Tone.CALM, "minus", "The tick had nothing to ask for."),
    "ok": Look("done", Tone.GOOD, "check", "The Gateway did it."),
    "refused": Look("refused", Tone.BAD, "cross", "It counts as not done and is tried again."),
    "timeout": Look("timed out", Tone.WARN, "clock", "It counts as done, so that nothing is bought twice."),
}

states.KINDS.update(deployment=DEPLOYMENT, replica=REPLICA, scale_outcome=OUTCOME)


class Held(Protocol):
    """What the state of a deployment depends on now: the latest tick's word, and who holds the deployment.

    `state` None: no tick has told any. `pause` is the direction of a pause in force, "" for none; `zero_by` who holds
    it at zero.
    """

    @property
    def state(self) -> str | None: ...
    @property
    def assigned(self) -> bool: ...
    @property
    def listed(self) -> bool: ...
    @property
    def pause(self) -> str: ...
    @property
    def zero_by(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Doing:
    """One deployment as its row and its page judge it: the latest tick's picture, and who holds it now.

    None is what no tick told. `tolerance` is the one in force.
    """

    state: str | None
    gate: str | None
    bound: str | None
    latency_ratio: float | None
    rps_ratio: float | None
    healthy: int | None
    warming: int | None
    desired: int | None
    assigned: bool
    listed: bool
    pause: str
    zero_by: str
    tolerance: float

    @property
    def known(self) -> bool:
        """Whether its replicas were counted."""
        return self.healthy is not None

    @property
    def coming(self) -> int:
        """Healthy and warming ones together."""
        return (self.healthy or 0) + (self.warming or 0)


# What an order that stops one direction leaves to tell, it tells before the load.
_BY_LOAD = frozenset({State.UP, State.OVER, State.DOWN, State.WINDOW, State.UNTARGETED, State.STEADY})
_PAUSED_ONE_WAY: dict[str, str] = {PauseDirection.UP: "paused_up", PauseDirection.DOWN: "paused_down"}


def code_of(one: Held) -> str:
    """The word of the DEPLOYMENT looks that says it best: who holds it first, then what its latest tick did."""
    if not one.listed:
        return "not_listed"
    if not one.assigned:
        return "unassigned"
    if one.pause == PauseDirection.BOTH:
        return "paused"
    if not one.state:
        return "new"
    if one.state == State.ZERO and one.zero_by == "operator":
        return "held_zero"
    return _PAUSED_ONE_WAY.get(one.pause, one.state) if one.state in _BY_LOAD else one.state


_TOLD = ("state", "gate", "bound", "latency_ratio", "rps_ratio", "healthy", "warming", "desired")


def doing_of(row: Deployment, now: datetime) -> Doing:
    """What one deployment does, from its row and its scaler's as loaded."""
    scaler = getattr(row, "scaler", None)
    latest = scaler.latest if scaler else {}
    return Doing(
        **{name: latest.get(name) for name in _TOLD},
        assigned=assigned(scaler, now),
        listed=row.absent_since is None,
        pause=row.pause_direction if is_paused(row, now) else "",
        zero_by=(scaler.zero_by or "") if scaler else "",
        tolerance=in_force(row, "tolerance"),
    )


HELD_BY_GATE: dict[str, str] = {
    Gate.PAUSED: "paused by an operator",
    Gate.STATUS_GATE: "not running",
    Gate.FLEET_UNKNOWN: "its replicas could not be read",
    Gate.LOST_LEASE: "another scaler takes it over",
    Gate.COOLDOWN: "cooling down",
    Gate.PROMETHEUS_DOWN: "Prometheus cannot be reached",
    Gate.METRICS_UNAVAILABLE: "its metrics are missing",
}
HELD_BY_LIMIT: dict[str, str] = {
    LimitCode.MISSING_DATA: "fewer asked for, by incomplete metrics",
    LimitCode.MIN_REPLICAS: "at its minimum",
    LimitCode.MAX_REPLICAS: "at its maximum",
    LimitCode.LAST_REPLICA: "only an idle one gives up its last",
    LimitCode.LIFECYCLE: "the lifecycle loop takes the last",
    LimitCode.OPERATOR_ZERO: "held at zero by an operator",
    LimitCode.PAUSED_UP: "adding is paused",
    LimitCode.PAUSED_DOWN: "removing is paused",
    LimitCode.WINDOW: "waits for its window before it shrinks",
    LimitCode.COMING: "replicas are coming already",
    LimitCode.SURGE_CAP: "unhealthy ones fill the room",
    LimitCode.SCALE_UP_LIMIT: "limited per call",
    LimitCode.COOLDOWN: "cooling down",
    LimitCode.HEALTH_FIRST: "health first: the load acts next tick",
}
"""What a limiter holds back in a few words; those that are missing here hold nothing worth a word."""


def held_by(doing: Doing) -> str:
    """Why it does not change more, in a short phrase; "" where nothing holds it."""
    if not doing.assigned:
        return "no free scaler"
    if doing.zero_by == "operator":
        return "held at zero by an operator"
    if doing.gate:
        return HELD_BY_GATE.get(doing.gate, doing.gate.replace("_", " "))
    return HELD_BY_LIMIT.get(doing.bound, "") if doing.bound else ""
