"""One tick of one deployment, steps 1 to 9. Pure: the loops around it fetch, call, store and post."""

from collections.abc import Sequence

from scaling.replicas.ages import is_over
from scaling.replicas.change import Change, forced_change, health_first, load_change
from scaling.replicas.decision import Decision, Gate, Learned, Limit, LimitCode
from scaling.replicas.deployment import Deployment
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.gates import Doorway, first_gate, later_gate
from scaling.replicas.memory import ScalerMemory, ZeroBy, not_yet_listed, settle
from scaling.replicas.metrics import MetricsReading, weigh
from scaling.replicas.reasons import gated_reason, reason_for
from scaling.replicas.replica import Replica, Roster, muster
from scaling.replicas.tick import Tick, make_tick
from scaling.replicas.window import WindowEntry, released_at, slide, window_max
from scaling.replicas.wish import is_within_tolerance, wish_for
from scaling.replicas.zero import idle_enough_at

TICK_SECONDS = 5.0


def decide(
    deployment: Deployment,
    replicas: Sequence[Replica] | None,
    metrics: MetricsReading,
    memory: ScalerMemory,
    now: float,
    *,
    lease_held: bool = True,
    fleet: FleetCheck | None = None,
    tick_seconds: float = TICK_SECONDS,
    takes_last: bool = True,
) -> Decision:
    """What to do now, and why; the order of `replicas` does not matter.

    `replicas` None means the list could not be read, `fleet` is the check over all deployments. All times are
    seconds on one axis. With `takes_last` false the zero rule is computed and recorded and its removal left to
    another caller (live: the scaler leaves it to the lifecycle loop, which acts on `Step.ZERO` alone). What the
    answer to the call changes is `apply_answer`'s part.
    """
    roster = _muster(replicas, deployment, memory, now)
    # 1. Gates: a tick stopped here does nothing at all.
    gate = first_gate(Doorway(deployment, roster is not None, fleet, lease_held, now))
    if gate is not None or roster is None:
        return _gated(gate or Gate.FLEET_UNKNOWN, deployment, roster, metrics, fleet, now)
    # 6. Metrics, 7. Desired, 8. Window: computed and written in every tick that is not gated.
    evidence = weigh(metrics, deployment, len(roster.healthy), now, tick_seconds)
    counts = roster.counts
    tick = make_tick(deployment, roster, counts, evidence, memory, now, takes_last)
    wish = wish_for(tick)
    window = slide(memory.window, wish.for_window, tick.healthy, deployment.stabilization_window_seconds, now)
    top = window_max(window)
    # 2. Bootstrap, 3. Health floor, 4. Ceiling; else 5. Cooldown and its like hold back 9. Act.
    forced = health_first(tick)
    if forced is not None:
        gate, change = None, forced_change(*forced, tick, wish.desired)
    else:
        gate, change = later_gate(tick), load_change(tick, wish.desired, top)
    limits = (*wish.limits, *change.limits)
    bound = _bound(tick, limits)
    stop = _stop(tick, change)
    return Decision(
        deployment_id=deployment.id,
        at=now,
        gate=gate,
        reason=reason_for(tick, gate, change, bound, wish.desired, top, stop),
        counts=counts,
        metrics=metrics,
        evidence=evidence,
        desired=wish.desired,
        window_max=top,
        limits=limits,
        bound=bound,
        step=change.step,
        add=max(0, change.count),
        stop=stop,
        next_possible_at=_next_possible_at(tick, gate, change, bound, window),
        learned=_learn(tick, window, replicas or ()),
    )


def _muster(
    replicas: Sequence[Replica] | None, deployment: Deployment, memory: ScalerMemory, now: float
) -> Roster | None:
    if replicas is None:
        return None
    asked = not_yet_listed(memory.asked, _ids(replicas), now) if memory.asked else 0
    return muster(replicas, deployment, now, asked)


def _ids(replicas: Sequence[Replica]) -> frozenset[str]:
    return frozenset(replica.id for replica in replicas)


def _gated(
    gate: Gate,
    deployment: Deployment,
    roster: Roster | None,
    metrics: MetricsReading,
    fleet: FleetCheck | None,
    now: float,
) -> Decision:
    pause = deployment.pause
    return Decision(
        deployment_id=deployment.id,
        at=now,
        gate=gate,
        reason=gated_reason(gate, deployment, fleet if roster else None),
        counts=roster.counts if roster else None,
        metrics=metrics,
        next_possible_at=pause.until if gate is Gate.PAUSED and pause else None,
    )


def _stop(tick: Tick, change: Change) -> tuple[str, ...]:
    """Ids to stop: every failed one, one unhealthy, one healthy; oldest first in each."""
    return (
        *tick.roster.failed,
        *tick.roster.unhealthy[: int(tick.clears_unhealthy)],
        *tick.roster.healthy[: int(change.count < 0)],
    )


def _bound(tick: Tick, limits: tuple[Limit, ...]) -> LimitCode | None:
    """The last limiter that changed something; within the tolerance that is what holds, changed or not.

    (Else samples that waver around the target would make news of every other tick.)
    """
    for limit in reversed(limits):
        if limit.before != limit.after:
            return limit.code
    return LimitCode.TOLERANCE if is_within_tolerance(tick) else None


def _next_possible_at(
    tick: Tick,
    gate: Gate | None,
    change: Change,
    bound: LimitCode | None,
    window: tuple[WindowEntry, ...],
) -> float | None:
    """When what holds the deployment lets go; None where nothing does or nobody knows."""
    deployment, last = tick.deployment, tick.memory.last_scale_at
    if gate is Gate.COOLDOWN and last is not None:
        return min(last, tick.now) + deployment.cooldown_seconds
    if bound is LimitCode.WINDOW:
        return released_at(window, tick.healthy, deployment.stabilization_window_seconds)
    if bound in (LimitCode.PAUSED_UP, LimitCode.PAUSED_DOWN) and deployment.pause:
        return deployment.pause.until
    idle_at = None if change.count else idle_enough_at(tick)
    return None if idle_at is None or is_over(idle_at, tick.now) else idle_at


def _learn(tick: Tick, window: tuple[WindowEntry, ...], replicas: Sequence[Replica]) -> Learned:
    """What stays in the memory whatever the answer."""
    memory, roster = tick.memory, tick.roster
    zero_by = memory.zero_by
    if zero_by is ZeroBy.LIFECYCLE and (tick.floor > 0 or tick.requested_recently()):
        zero_by = None
    missing_since = memory.metrics_missing_since
    if missing_since is None:
        missing_since = tick.now
    ended = (*roster.failed, *roster.draining)
    return Learned(
        window=window,
        asked=settle(memory.asked, ended, tick.now) if memory.asked else (),
        zero_by=zero_by,
        first_healthy_at=tick.first_healthy_at,
        metrics_missing_since=missing_since if tick.evidence.unknown else None,
        listed=_ids(replicas),
    )
