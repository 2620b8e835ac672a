"""The words that code, API, pages and logs share: every enum's values are the words of the documents."""

from enum import StrEnum


class DeviceType(StrEnum):
    CPU = "cpu"
    GPU = "gpu"
    TPU = "tpu"


class CapacityType(StrEnum):
    ON_DEMAND = "on_demand"
    PREEMPTIBLE = "preemptible"
    RESERVED = "reserved"


class Tier(StrEnum):
    """How important a job is by contract; only `production` changes where it may run."""

    PRODUCTION = "production"
    STANDARD = "standard"
    BATCH = "batch"


class SliceState(StrEnum):
    """REQUESTING → BOOTING → READY → DRAINING → TERMINATING → gone; FAILED on the way."""

    REQUESTING = "REQUESTING"
    BOOTING = "BOOTING"
    READY = "READY"
    DRAINING = "DRAINING"
    TERMINATING = "TERMINATING"
    FAILED = "FAILED"
    GONE = "GONE"

    @property
    def in_flight(self) -> bool:
        return self is SliceState.REQUESTING or self is SliceState.BOOTING

    @property
    def counts(self) -> bool:
        """Whether such a slice counts against max_slices and its quota pool."""
        return self is not SliceState.FAILED and self is not SliceState.GONE


class WorkerHealth(StrEnum):
    """What is told of one worker. LOST is certain (preempted, broken); NOT_FOUND is believed the second time."""

    READY = "READY"
    UNKNOWN = "UNKNOWN"
    NOT_FOUND = "NOT_FOUND"
    LOST = "LOST"


class MarkerKind(StrEnum):
    STOCKOUT = "stockout"
    BACKOFF = "backoff"
    QUOTA = "quota"
    PERMANENT = "permanent"


class Outcome(StrEnum):
    """The checks of the filter chain, in the order in which the first failing one names the outcome."""

    PLATFORM_UNREACHABLE = "PLATFORM_UNREACHABLE"
    DRAINING = "DRAINING"
    PAUSED = "PAUSED"
    CREATE_REFUSED = "CREATE_REFUSED"
    CAPACITY_EXCEEDED = "CAPACITY_EXCEEDED"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    BACKOFF = "BACKOFF"
    STOCKOUT = "STOCKOUT"
    PROBING = "PROBING"
    TIER_BLOCKED = "TIER_BLOCKED"
    AVAILABLE = "AVAILABLE"

    @property
    def log_name(self) -> str:
        """The name in logs: a stock-out is logged as STOCKOUT_MARKER, to tell it from a refusal just now."""
        return "STOCKOUT_MARKER" if self is Outcome.STOCKOUT else self.value


class HintCode(StrEnum):
    """Why a job waits, from the nearest to being served to the farthest."""

    SCALING_UP = "scaling_up"
    WAITING_FOR_WORKERS = "waiting_for_workers"
    TIER_BLOCKED = "tier_blocked"
    INSUFFICIENT_RESOURCES = "insufficient_resources"
    COSCHEDULE_MISMATCH = "coschedule_mismatch"
    NO_MATCHING_GROUP = "no_matching_group"
    INVALID_REQUEST = "invalid_request"


class ActionKind(StrEnum):
    SCALE_UP = "scale_up"
    SCALE_DOWN = "scale_down"
    SLICE_READY = "slice_ready"
    SLICE_FAILED = "slice_failed"
    SLICE_LOST = "slice_lost"
    SLICE_CANCELLED = "slice_cancelled"
    SLICE_ADOPTED = "slice_adopted"
    SLICE_SWEPT = "slice_swept"
    CREATE_FAILED = "create_failed"
    MARKER_SET = "marker_set"
    MARKER_CLEARED = "marker_cleared"
    DEFERRED = "deferred"
    DRAIN = "drain"
    UNDRAIN = "undrain"
    PAUSE = "pause"
    RESUME = "resume"
    ACKNOWLEDGE = "acknowledge"


class CycleStatus(StrEnum):
    OK = "ok"
    ABORTED = "aborted"


class Mode(StrEnum):
    """`observe`: plans are made, shown and recorded; nothing is sent. `act`: they are carried out."""

    OBSERVE = "observe"
    ACT = "act"


class DeleteCause(StrEnum):
    """Why a slice is told to go; only RELEASED ones count as terminated."""

    RELEASED = "released"
    LOST = "lost"
    FAILED = "failed"
    SWEPT = "swept"
