"""The sentence of every tick: why it did, or did not do, what the load asked for.

A sentence is stored and read later, so it counts no time from or to its own moment: when what holds lets go, and since
when the load is unknown, stand beside it as times.
"""

from collections.abc import Callable
from dataclasses import dataclass

from scaling.replicas.change import Change
from scaling.replicas.decision import Gate, LimitCode, Step
from scaling.replicas.deployment import Deployment
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.metrics import Standing
from scaling.replicas.tick import Tick


def gated_reason(gate: Gate, deployment: Deployment, fleet: FleetCheck | None) -> str:
    """Why a tick was stopped at the door; `fleet` only where the list was read."""
    if gate is Gate.PAUSED:
        until = deployment.pause.until if deployment.pause else None
        span = "until it is resumed" if until is None else "until a set time"
        return f"Paused by an operator {span}: nothing is added or removed."
    if gate is Gate.STATUS_GATE:
        return f"The deployment is {deployment.status}; only a running or created one is scaled."
    if gate is Gate.LOST_LEASE:
        return "This scaler no longer holds the deployment's lease; another one decides."
    if fleet is not None and fleet.unknown:
        return (
            f"{fleet.stale} of {fleet.replicas} replicas of the whole fleet have a stale health check: "
            "the checker is taken to be down, not the fleet."
        )
    return "The list of replicas could not be read; that is not an empty list."


@dataclass(frozen=True, slots=True)
class _Told:
    """What a sentence can speak of."""

    tick: Tick
    change: Change
    desired: int
    top: int

    @property
    def moved(self) -> str:
        return f"{_replicas(abs(self.change.count))} {'is' if abs(self.change.count) == 1 else 'are'}"


def reason_for(
    tick: Tick,
    gate: Gate | None,
    change: Change,
    bound: LimitCode | None,
    desired: int,
    top: int,
    stop: tuple[str, ...],
) -> str:
    """One or two sentences: what decided about healthy capacity, and what is cleared away beside it."""
    told = _Told(tick, change, desired, top)
    if gate is not None:
        sentence = _GATE_REASONS[gate](told)
    elif change.step is not Step.NONE:
        sentence = _STEP_REASONS[change.step](told)
    else:
        sentence = _HOLD_REASONS.get(bound, _load_reason)(told)
    cleared = len(stop) - (change.count < 0)
    if not cleared:
        return sentence
    return f"{sentence} {_replicas(cleared)} that failed or {'is' if cleared == 1 else 'are'} unhealthy: removed."


def _replicas(count: int) -> str:
    return f"{count} replica" if count == 1 else f"{count} replicas"


def _seconds(seconds: float) -> str:
    return f"{round(seconds, 1):g} s"


def _cooldown(told: _Told) -> str:
    tick = told.tick
    rest = _seconds(tick.deployment.cooldown_seconds)
    return f"Cooling down: {rest} after each change by load; desired is {told.desired}, {tick.healthy} are healthy."


def _blind(told: _Told) -> str:
    tick = told.tick
    flaws = "; ".join(
        f"{proposal.metric}: {proposal.why}"
        for proposal in tick.evidence.proposals
        if proposal.standing is Standing.MISSING
    )
    return f"The load is unknown ({flaws or 'Prometheus cannot be reached'}): held at {tick.healthy}."


def _load_reason(told: _Told) -> str:
    tick = told.tick
    ratio = tick.evidence.ratio
    if ratio is not None:
        return f"The load is {ratio:.3g} times its target: {_replicas(tick.healthy)} will do."
    if all(it.standing is Standing.NOT_CONFIGURED for it in tick.evidence.proposals):
        return f"No target is configured: held at {tick.healthy}."
    return f"Nothing to scale by with {tick.healthy} healthy: held."


def _window_reason(told: _Told) -> str:
    seconds = _seconds(told.tick.deployment.stabilization_window_seconds)
    return f"{told.desired} are desired, but {told.top} were within the last {seconds}: none is removed yet."


def _missing_reason(told: _Told) -> str:
    return f"Less is asked for, but by incomplete metrics: held at {told.tick.healthy}."


_GATE_REASONS: dict[Gate, Callable[[_Told], str]] = {
    Gate.COOLDOWN: _cooldown,
    Gate.PROMETHEUS_DOWN: _blind,
    Gate.METRICS_UNAVAILABLE: _blind,
}

_STEP_REASONS: dict[Step, Callable[[_Told], str]] = {
    Step.BOOTSTRAP: lambda told: f"There is no replica: {told.moved} added to reach the minimum.",
    Step.FLOOR: lambda told: (
        f"{told.tick.healthy} healthy and {told.tick.warming} coming are below the minimum of "
        f"{told.tick.floor}: {told.moved} added."
    ),
    Step.WAKE: lambda told: f"A request came while nothing serves: {told.moved} added.",
    Step.CEILING: lambda told: (
        f"{told.tick.healthy} healthy and {told.tick.warming} coming are above the maximum of "
        f"{told.tick.deployment.max_replicas}: the oldest healthy one is removed."
    ),
    Step.ZERO: lambda _told: "Nobody asked for it long enough: the last replica is removed.",
    Step.LOAD: lambda told: (
        f"The load is {told.tick.evidence.ratio or 0:.3g} times its target, {told.desired} are desired: "
        f"{told.moved} {'added' if told.change.count > 0 else 'removed, the oldest'}."
    ),
}

_HOLD_REASONS: dict[LimitCode | None, Callable[[_Told], str]] = {
    LimitCode.TOLERANCE: lambda told: (
        f"The load is {told.tick.evidence.ratio or 0:.3g} times its target, within the tolerance: held."
    ),
    LimitCode.MISSING_DATA: _missing_reason,
    LimitCode.WINDOW: _window_reason,
    LimitCode.COMING: lambda told: (
        f"{told.desired} are desired, {told.tick.healthy} are healthy and {told.tick.warming} coming: none added."
    ),
    LimitCode.LIFECYCLE: lambda _told: "Idle long enough: the lifecycle loop takes the last replica.",
    LimitCode.OPERATOR_ZERO: lambda _told: "An operator holds the deployment at zero: none is added.",
    LimitCode.PAUSED_UP: lambda _told: "An operator stopped all adding: none is added.",
    LimitCode.PAUSED_DOWN: lambda _told: "An operator stopped all removing: none is removed.",
    LimitCode.SURGE_CAP: lambda told: (
        f"{told.tick.unhealthy} unhealthy ones fill the room up to one above the maximum: none is added."
    ),
    LimitCode.SCALE_UP_LIMIT: lambda _told: "The limit per call allows none to be added.",
    LimitCode.LAST_REPLICA: lambda _told: "Nothing is asked for; only an idle deployment gives up its last replica.",
    LimitCode.MAX_REPLICAS: lambda told: f"The maximum of {told.tick.deployment.max_replicas} is reached.",
    LimitCode.MIN_REPLICAS: lambda told: f"The minimum of {told.tick.floor} is reached.",
}
