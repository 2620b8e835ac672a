"""What a deployment is doing, in one word, and what keeps it from doing more, in a few.

`CONDITIONS` says which of the list's filters a deployment falls under (several can be the case at once); `code_of` is
the one state that its row and its page show: the first of `CODES` that applies.
"""

from collections.abc import Callable
from typing import NamedTuple

from iris_web.pages import states
from iris_web.pages.states import Look, Tone
from scaling.models import PauseDirection
from scaling.replicas.decision import Gate, LimitCode
from scaling.replicas.metrics import SLACK

DEPLOYMENT: dict[str, Look] = {
    "not_listed": Look("not listed", Tone.WARN, "question", "The Gateway's list leaves it out; it is held as it is."),
    "unassigned": Look("no scaler", Tone.BAD, "plug", "No instance has taken it: nobody scales it."),
    "paused": Look("paused", Tone.HELD, "pause", "An operator paused it: nothing is added or removed."),
    "paused_up": Look("adding paused", Tone.HELD, "pause", "An operator stopped all adding; removing goes on."),
    "paused_down": Look("removing paused", Tone.HELD, "pause", "An operator stopped all removing; adding goes on."),
    "status_gate": Look("not running", Tone.CALM, "minus", "Only a running or created one is scaled."),
    "fleet_unknown": Look("replicas unknown", Tone.BAD, "stop", "Its replicas could not be read; that is not none."),
    "lost_lease": Look("changing hands", Tone.COMING, "half", "Another scaler takes it over."),
    "prometheus_down": Look("Prometheus away", Tone.BAD, "stop", "Its load is unknown: held where it is."),
    "metrics_unavailable": Look("metrics missing", Tone.BAD, "diamond", "Its load is unknown: held where it is."),
    "held_zero": Look("held at zero", Tone.HELD, "lock", "An operator holds it at zero until it is woken."),
    "zero": Look("at zero", Tone.CALM, "dashed", "It has no replica; a request or a minimum wakes it."),
    "up": Look("scaling up", Tone.COMING, "up", "Replicas were asked for or are warming up."),
    "down": Look("scaling down", Tone.COMING, "down", "It goes down, one replica at a time."),
    "over": Look("over target", Tone.WARN, "gauge", "The load is above its target by more than the tolerance."),
    "window": Look("waits to shrink", Tone.CALM, "clock", "Fewer would do; the stabilization window is not over."),
    "untargeted": Look("no target", Tone.CALM, "eye", "Neither latency nor requests have a target."),
    "steady": Look("on target", Tone.GOOD, "disc", "The load is within the tolerance of its target, or below it."),
    "new": Look("not looked at yet", Tone.CALM, "ring", "Its scaler has not ticked yet."),
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


class Doing(NamedTuple):
    """What a state is judged by: the picture of the latest tick (see models.Scaler), and who holds the deployment.

    None is what no tick told. `pause` is the direction of a pause in force, "" for none; `tolerance` the one in force.
    A tuple, for there is one of every deployment in each look at the list.
    """

    gate: str | None
    bound: str | None
    ratio: float | None
    latency_ratio: float | None
    rps_ratio: float | None
    healthy: int | None
    warming: int | None
    desired: int | None
    add: int | None
    assigned: bool
    listed: bool
    pause: str
    zero_by: str
    tolerance: float
    targeted: bool

    @property
    def known(self) -> bool:
        """Whether its replicas were counted."""
        return self.healthy is not None

    @property
    def coming(self) -> int:
        """Healthy and warming ones together."""
        return (self.healthy or 0) + (self.warming or 0)


PICTURE = Doing._fields[: Doing._fields.index("assigned")]
"""The keys of a scaler's `latest` that a state is judged by."""


def is_over(doing: Doing) -> bool:
    """The load is above the target by more than the tolerance."""
    return doing.ratio is not None and doing.ratio > 1 + doing.tolerance + SLACK


def is_at_zero(doing: Doing) -> bool:
    return doing.healthy == 0 and not doing.warming and not doing.add


def lacks_metrics(doing: Doing) -> bool:
    """Nothing is known of a load that somebody serves; where nobody does, there is nothing to measure."""
    return doing.gate == Gate.METRICS_UNAVAILABLE and doing.healthy != 0


def is_going_up(doing: Doing) -> bool:
    if doing.add or doing.warming:
        return True
    return doing.gate == Gate.COOLDOWN and doing.desired is not None and doing.desired > doing.coming


def is_going_down(doing: Doing) -> bool:
    """One is removed at a time, each followed by a cooldown: both are the same way down."""
    if doing.desired is None or doing.healthy is None or doing.desired >= doing.healthy:
        return False
    return doing.gate == Gate.COOLDOWN or (not doing.gate and doing.bound in _NOT_HELD_DOWN)


_NOT_HELD_DOWN = (None, "", LimitCode.ONE_PER_TICK, LimitCode.COOLDOWN)


CONDITIONS: dict[str, tuple[str, Callable[[Doing], bool]]] = {
    "over": ("over target", is_over),
    # A cooldown is the rest after a change that was made, not something that keeps it from one.
    "held": ("held by a gate", lambda doing: bool(doing.gate) and doing.gate != Gate.COOLDOWN),
    "up": ("scaling up", is_going_up),
    "down": ("scaling down", is_going_down),
    "zero": ("at zero", is_at_zero),
    "paused": ("paused", lambda doing: bool(doing.pause)),
    "unassigned": ("no scaler", lambda doing: not doing.assigned),
    "not_listed": ("not listed", lambda doing: not doing.listed),
}

CODES: tuple[tuple[str, Callable[[Doing], bool]], ...] = (
    ("not_listed", lambda doing: not doing.listed),
    ("unassigned", lambda doing: not doing.assigned),
    ("paused", lambda doing: doing.pause == PauseDirection.BOTH),
    ("new", lambda doing: not doing.known and not doing.gate),
    *((gate.value, lambda doing, gate=gate: doing.gate == gate)
      for gate in Gate if gate not in (Gate.PAUSED, Gate.COOLDOWN, Gate.METRICS_UNAVAILABLE)),
    ("held_zero", lambda doing: is_at_zero(doing) and doing.zero_by == "operator"),
    ("zero", is_at_zero),
    (Gate.METRICS_UNAVAILABLE.value, lacks_metrics),
    ("paused_up", lambda doing: doing.pause == PauseDirection.UP),
    ("paused_down", lambda doing: doing.pause == PauseDirection.DOWN),
    ("up", is_going_up),
    ("over", is_over),
    ("down", is_going_down),
    ("window", lambda doing: doing.bound == LimitCode.WINDOW),
    ("untargeted", lambda doing: not doing.targeted),
)  # fmt: skip


def code_of(doing: Doing) -> str:
    """The word of the DEPLOYMENT looks that says it best."""
    return next((code for code, applies in CODES if applies(doing)), "steady")


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
