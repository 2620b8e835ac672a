"""An operator's "scale now": what one tick does towards a number of replicas that a person asked for.

It obeys neither cooldown, window, metrics nor a pause, for the person decided, and it starts a cooldown and writes
the number into the window, so that the load does not undo it at once. What stops the whole tick (status, an unknown
fleet, a lost lease) stops it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaling.replicas.decision import Decision, Gate, Step
from scaling.replicas.deployment import Deployment
from scaling.replicas.memory import ScalerMemory, not_yet_listed
from scaling.replicas.replica import Replica, Roster, muster
from scaling.replicas.window import WindowEntry

STOPPED_BY = frozenset({Gate.STATUS_GATE, Gate.FLEET_UNKNOWN, Gate.LOST_LEASE})
"""The gates that hold a person's order as well."""


@dataclass(frozen=True, slots=True)
class Order:
    """How many replicas are wanted, and who wants them."""

    replicas: int
    by: str


def without_pause(deployment: Deployment) -> Deployment:
    """The deployment as an order sees it."""
    return replace(deployment, pause=None) if deployment.pause else deployment


def carry_out(
    order: Order, decision: Decision, deployment: Deployment, replicas: Sequence[Replica], memory: ScalerMemory
) -> Decision:
    """The decision with the order's change in place of the load's; unchanged where a gate holds the order too.

    `decision` was made with `without_pause(deployment)`. Warming replicas are never terminated, and serve nobody yet:
    going down leaves as many healthy ones as are wanted and takes the oldest first (for zero the unhealthy ones too).
    What turns healthy beyond that goes in a later tick.
    """
    learned = decision.learned
    if decision.gate in STOPPED_BY or learned is None:
        return decision
    asked = not_yet_listed(memory.asked, learned.listed, decision.at) if memory.asked else 0
    roster = muster(replicas, deployment, decision.at, asked)
    add, stop = change_for(order.replicas, roster)
    return replace(
        decision,
        gate=None,
        reason=_reason(order, roster, add, stop),
        bound=None,
        step=Step.MANUAL if add or stop else Step.NONE,
        add=add,
        stop=stop,
        next_possible_at=None,
        learned=replace(learned, window=(*learned.window, WindowEntry(decision.at, order.replicas))),
    )


def is_reached(wanted: int, roster: Roster) -> bool:
    """Whether an order has nothing more to do."""
    return change_for(wanted, roster) == (0, roster.failed) and len(roster.healthy) + roster.counts.warming == wanted


def change_for(wanted: int, roster: Roster) -> tuple[int, tuple[str, ...]]:
    """(replicas to add, ids to stop) towards `wanted` of healthy and coming ones."""
    missing = wanted - len(roster.healthy) - roster.counts.warming
    unhealthy = roster.unhealthy if wanted == 0 else ()
    healthy = roster.healthy[: max(0, len(roster.healthy) - wanted)]
    return max(0, missing), (*roster.failed, *unhealthy, *healthy)


def _reason(order: Order, roster: Roster, add: int, stop: tuple[str, ...]) -> str:
    have = f"{len(roster.healthy)} healthy and {roster.counts.warming} coming"
    if not add and not stop:
        return f"{order.by} asked for {order.replicas}: there are {have}, nothing to do."
    moves = [f"{add} added"] * bool(add) + [f"{len(stop)} stopped"] * bool(stop)
    return f"{order.by} asked for {order.replicas}: there are {have}; {' and '.join(moves)}."
