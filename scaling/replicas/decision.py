"""The decision record: what one tick saw, wished, was held back by, and sent."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from scaling.replicas.memory import Asked, ZeroBy
from scaling.replicas.metrics import Evidence, MetricsReading
from scaling.replicas.replica import Counts
from scaling.replicas.window import WindowEntry


class Gate(StrEnum):
    """What stops a tick (the first four) or holds its load-driven changes (the rest)."""

    PAUSED = "paused"
    STATUS_GATE = "status_gate"
    FLEET_UNKNOWN = "fleet_unknown"
    LOST_LEASE = "lost_lease"
    COOLDOWN = "cooldown"
    PROMETHEUS_DOWN = "prometheus_down"
    METRICS_UNAVAILABLE = "metrics_unavailable"


class Step(StrEnum):
    """Which step moves healthy capacity in a tick."""

    NONE = "none"
    BOOTSTRAP = "bootstrap"
    FLOOR = "floor"
    WAKE = "wake"
    CEILING = "ceiling"
    LOAD = "load"
    ZERO = "zero"
    MANUAL = "manual"


LOAD_DRIVEN = frozenset({Step.LOAD, Step.ZERO, Step.MANUAL})
"""The steps that start a cooldown; a person's order does, so that the load does not undo it at once."""


class LimitCode(StrEnum):
    """Every limiter; those up to `wake` act on the number desired, the others on the change towards it."""

    TOLERANCE = "tolerance"
    MISSING_DATA = "missing_data"
    MIN_REPLICAS = "min_replicas"
    MAX_REPLICAS = "max_replicas"
    LAST_REPLICA = "last_replica"
    ZERO = "zero"
    WAKE = "wake"
    LIFECYCLE = "lifecycle"
    OPERATOR_ZERO = "operator_zero"
    PAUSED_UP = "paused_up"
    PAUSED_DOWN = "paused_down"
    WINDOW = "window"
    COMING = "coming"
    SURGE_CAP = "surge_cap"
    SCALE_UP_LIMIT = "scale_up_limit"
    ONE_PER_TICK = "one_per_tick"
    COOLDOWN = "cooldown"
    HEALTH_FIRST = "health_first"


class Limit(NamedTuple):
    """One limiter with the value before and after it: replicas desired, or the change in replicas.

    A tuple, for there are some fifteen of them in every decision.
    """

    code: LimitCode
    before: int
    after: int


class Outcome(StrEnum):
    """What came back from POST /scale."""

    NOT_SENT = "not_sent"
    OK = "ok"
    REFUSED = "refused"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Learned:
    """What a tick that was not gated leaves in the memory, whatever the answer; `listed` are the ids it saw."""

    window: tuple[WindowEntry, ...]
    asked: tuple[Asked, ...]
    zero_by: ZeroBy | None
    first_healthy_at: float | None
    metrics_missing_since: float | None
    listed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Decision:
    """One tick of one deployment, explained; None is what a gated tick did not compute.

    `add` and `stop` are the one call of the tick (ids in the order failed, unhealthy, healthy, oldest first).
    `step` is what moves healthy capacity in it. `bound` is the last limiter that changed something.
    `next_possible_at` is when what holds the deployment lets go, where that is known.
    """

    deployment_id: str
    at: float
    gate: Gate | None
    reason: str
    counts: Counts | None
    metrics: MetricsReading
    evidence: Evidence | None = None
    desired: int | None = None
    window_max: int | None = None
    limits: tuple[Limit, ...] = ()
    bound: LimitCode | None = None
    step: Step = Step.NONE
    add: int = 0
    stop: tuple[str, ...] = ()
    next_possible_at: float | None = None
    learned: Learned | None = None
    outcome: Outcome = Outcome.NOT_SENT

    @property
    def sent(self) -> bool:
        """Whether this tick has a call to POST."""
        return self.add > 0 or bool(self.stop)

    @property
    def load_driven(self) -> bool:
        """Whether a successful call starts a cooldown."""
        return self.step in LOAD_DRIVEN

    @property
    def news(self) -> tuple[object, ...]:
        """What makes a decision worth storing when it differs from the previous one's; samples alone don't."""
        return (self.gate, self.bound, self.desired, self.add, self.stop, self.outcome)
