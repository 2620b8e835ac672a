"""A deployment's settings: what an operator or the Gateway wants of it."""

from dataclasses import dataclass
from enum import StrEnum

from scaling.replicas.ages import is_over

SCALED_STATUSES = frozenset({"running", "created"})


class PauseDirection(StrEnum):
    """What a pause stops: the whole tick, every add, or every removal of a healthy replica."""

    BOTH = "both"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Pause:
    """An operator's pause; `until` None lasts until it is lifted."""

    until: float | None = None
    direction: PauseDirection = PauseDirection.BOTH


@dataclass(frozen=True, slots=True)
class Deployment:
    """Settings of one deployment and what the Gateway says of its requests; times are seconds on one axis.

    A target that is None or 0 is not configured. `last_request_at` None is unknown, not never.
    """

    id: str
    min_replicas: int
    max_replicas: int
    status: str = "running"
    target_latency_p95_ms: float | None = None
    target_rps: float | None = None
    stabilization_window_seconds: float = 300
    cooldown_seconds: float = 120
    tolerance: float = 0.1
    scale_up_limit: int | None = None
    health_grace_seconds: float = 3600
    health_check_seconds: float = 60
    zero_after_seconds: float = 3600
    pause: Pause | None = None
    last_request_at: float | None = None

    @property
    def floor(self) -> int:
        """The minimum in force: min above max is refused when edited; met all the same, max wins."""
        return min(self.min_replicas, self.max_replicas)

    def paused(self, direction: PauseDirection, now: float) -> bool:
        """Whether a pause of exactly this direction is in force."""
        pause = self.pause
        if pause is None or pause.direction is not direction:
            return False
        return pause.until is None or not is_over(pause.until, now)
