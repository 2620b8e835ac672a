"""What the steps of one tick look at together."""

from dataclasses import dataclass

from scaling.replicas.ages import age_seconds
from scaling.replicas.deployment import Deployment, PauseDirection
from scaling.replicas.memory import ScalerMemory, ZeroBy
from scaling.replicas.metrics import Evidence
from scaling.replicas.replica import Counts, Roster


@dataclass(frozen=True, slots=True)
class Tick:
    """One deployment at one time. The rules' H, W and U are `healthy`, `warming` and `unhealthy`.

    `floor` is the minimum in force (0 while an operator holds the deployment at zero), `cooling` whether a
    load-driven change was made less than a cooldown ago, `takes_last` whether this caller acts on the zero rule.
    """

    deployment: Deployment
    roster: Roster
    evidence: Evidence
    memory: ScalerMemory
    now: float
    healthy: int
    warming: int
    unhealthy: int
    floor: int
    cooling: bool
    takes_last: bool

    @property
    def held_at_zero(self) -> bool:
        return self.memory.zero_by is ZeroBy.OPERATOR

    @property
    def clears_unhealthy(self) -> bool:
        """Step 9: an unhealthy one goes above the floor only, not in cooldown and not while blind."""
        may = not self.cooling and not self.evidence.unknown
        return may and self.unhealthy > 0 and self.healthy > self.floor

    @property
    def first_healthy_at(self) -> float | None:
        """When a healthy replica was first seen, this tick included."""
        seen = self.memory.first_healthy_at
        return self.now if seen is None and self.healthy else seen

    def paused(self, direction: PauseDirection) -> bool:
        return self.deployment.paused(direction, self.now)

    def requested_recently(self) -> bool | None:
        """Whether the last request is younger than the idle threshold; None when that is unknown."""
        last = self.deployment.last_request_at
        return None if last is None else age_seconds(last, self.now) < self.deployment.zero_after_seconds


def make_tick(
    deployment: Deployment,
    roster: Roster,
    counts: Counts,
    evidence: Evidence,
    memory: ScalerMemory,
    now: float,
    takes_last: bool,
) -> Tick:
    """Put one tick's picture together."""
    return Tick(
        deployment=deployment,
        roster=roster,
        evidence=evidence,
        memory=memory,
        now=now,
        healthy=counts.healthy,
        warming=counts.warming,
        unhealthy=counts.unhealthy,
        floor=0 if memory.zero_by is ZeroBy.OPERATOR else deployment.floor,
        cooling=is_cooling(deployment, memory, now),
        takes_last=takes_last,
    )


def is_cooling(deployment: Deployment, memory: ScalerMemory, now: float) -> bool:
    """Step 5: less than a cooldown since the last load-driven change; exactly a cooldown is free."""
    last = memory.last_scale_at
    return last is not None and age_seconds(last, now) < deployment.cooldown_seconds
