"""Step 1 and the later gates: what stops a tick, and what holds its load-driven changes, in order."""

from collections.abc import Callable
from dataclasses import dataclass

from scaling.replicas.decision import Gate
from scaling.replicas.deployment import SCALED_STATUSES, Deployment, PauseDirection
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.tick import Tick


@dataclass(frozen=True, slots=True)
class Doorway:
    """What the gates look at; `listed` is whether the replica list could be read."""

    deployment: Deployment
    listed: bool
    fleet: FleetCheck | None
    lease_held: bool
    now: float


GATES: tuple[tuple[Gate, Callable[[Doorway], bool]], ...] = (
    (Gate.PAUSED, lambda door: door.deployment.paused(PauseDirection.BOTH, door.now)),
    (Gate.STATUS_GATE, lambda door: door.deployment.status not in SCALED_STATUSES),
    (Gate.FLEET_UNKNOWN, lambda door: not door.listed or (door.fleet is not None and door.fleet.unknown)),
    (Gate.LOST_LEASE, lambda door: not door.lease_held),
)
"""A tick stopped here does nothing at all and writes nothing to the window."""

LATER_GATES: tuple[tuple[Gate, Callable[[Tick], bool]], ...] = (
    (Gate.COOLDOWN, lambda tick: tick.cooling),
    (Gate.PROMETHEUS_DOWN, lambda tick: tick.evidence.prometheus_down),
    (Gate.METRICS_UNAVAILABLE, lambda tick: tick.evidence.all_missing),
)
"""A tick held here keeps its load-driven changes and the clean-up of unhealthy ones back."""


def first_gate(door: Doorway) -> Gate | None:
    """The first gate that is shut."""
    return next((gate for gate, shut in GATES if shut(door)), None)


def later_gate(tick: Tick) -> Gate | None:
    """The first later gate that is shut."""
    return next((gate for gate, shut in LATER_GATES if shut(tick)), None)
