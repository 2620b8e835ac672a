"""What is known of the cluster, and what its platforms were seen to have: the input of a cycle.

All frozen. Times are seconds (floats) on one axis: Unix seconds in the live loop, seconds from the start in a scenario.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.words import HintCode, MarkerKind, Mode, SliceState, WorkerHealth

# -- what is known


@dataclass(frozen=True, slots=True)
class Usage:
    """What the active tasks of one worker take: cores, bytes, bytes, and of each GPU in use its taken share (0 to 1).

    A task with two whole GPUs and one with 0.46 of a GPU read `gpus=(1.0, 1.0, 0.46)`.
    """

    cpu: float = 0.0
    memory: int = 0
    disk: int = 0
    gpus: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Worker:
    """One machine of a slice. Assigned and building tasks are active tasks.

    `used` is None where only the number of tasks is known: then a worker with a task has no room left.
    `idle_since` is when its last task ended, or when it became ready; None = not known (or busy). `freed_at` is when
    a task last ended on one that is still busy. `missing` counts the listings in a row that lacked it.
    """

    index: int
    active_tasks: int = 0
    used: Usage | None = None
    idle_since: float | None = None
    freed_at: float | None = None
    unknown_since: float | None = None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Drain:
    """An operator's order that a group or one slice be emptied; at `deadline` what is still busy ends as well."""

    since: float
    by: str = ""
    deadline: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """An operator's order that nothing new be bought; over at `until`."""

    since: float
    by: str = ""
    until: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice that is not gone. Its name is the platform's idempotency key.

    `created`: the request was written. `sent_at`: it was last asked for. `retry_at`: when it may be asked for (again);
    None = an answer is awaited or has come. `gang_job`: the gang these workers are kept for, from `gang_since`
    (default `created`) until the group's provision timeout. `delete_asked_at`: the platform was told to end it.
    `missing` counts the listings in a row that lacked it.
    """

    name: str
    group: str
    state: SliceState
    created: float = 0.0
    sent_at: float | None = None
    retry_at: float | None = None
    ready_since: float | None = None
    workers: tuple[Worker, ...] = ()
    drain: Drain | None = None
    gang_job: str = ""
    gang_since: float | None = None
    probe: bool = False
    delete_asked_at: float | None = None
    missing: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """Durable memory of a failure on a group; over at `until` (None = never), open until a success clears it.

    `failures` counts, for a back-off, the doublings; `needs_person` where waiting does not help (a limit of 0).
    """

    group: str
    kind: MarkerKind
    since: float
    until: float | None = None
    error: str = ""
    failures: int = 1
    last_failure: float | None = None
    needs_person: bool = False
    acknowledged_at: float | None = None
    acknowledged_by: str = ""
    acknowledged_note: str = ""

    def active(self, now: float) -> bool:
        return self.until is None or now < self.until

    @property
    def failed_at(self) -> float:
        """The latest failure; a request made up to then proves nothing."""
        return self.since if self.last_failure is None else self.last_failure


@dataclass(frozen=True, slots=True)
class BackoffMemory:
    """How many transient failures counted so far, and the latest; outlives the marker (see markers.py)."""

    failures: int = 0
    last_failure: float | None = None


@dataclass(frozen=True, slots=True)
class GroupControl:
    """What operators ordered for a group, and its back-off count."""

    drain: Drain | None = None
    pause: Pause | None = None
    backoff: BackoffMemory = BackoffMemory()


@dataclass(frozen=True, slots=True)
class QuotaPool:
    """A limit in devices (workers, where a group has none) that several groups share; None = not limited here."""

    name: str
    limit: int | None = None
    quota_metric: str = ""
    learned_limit: int | None = None
    learned_at: float | None = None


@dataclass(frozen=True, slots=True)
class PlatformStatus:
    """A platform's mode and how listing it went: failed cycles in a row, since when, and its words."""

    mode: Mode = Mode.ACT
    aborts: int = 0
    failing_since: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: `tokens` at the time `at`; negative = in debt."""

    tokens: float
    at: float


@dataclass(frozen=True, slots=True)
class Orphan:
    """A listed slice that bears this installation's id and belongs to no group; swept after a grace."""

    name: str
    platform: str
    first_seen: float


@dataclass(frozen=True, slots=True)
class ClusterState:
    """Everything stored. Mappings by name; nothing in it is ever changed in place.

    `slices` holds every slice that is not gone. `markers` holds the open ones, by (group, kind). `up_buckets` and
    `down_buckets` by group, `create_bucket` over all groups; what is missing is a full bucket less
    `recent_creates` (times of creates in the last minute, by group); `creates_per_minute` is the rate over all groups.
    `halted`: one control stops all buying and releasing. `hints_since`: by job id the code of its last hint and when
    that code began. `name_prefix` begins the names of new slices, by platform.
    """

    groups: Mapping[str, ScalingGroup]
    controls: Mapping[str, GroupControl] = field(default_factory=dict)
    pools: Mapping[str, QuotaPool] = field(default_factory=dict)
    slices: Mapping[str, Slice] = field(default_factory=dict)
    markers: Mapping[tuple[str, MarkerKind], Marker] = field(default_factory=dict)
    platforms: Mapping[str, PlatformStatus] = field(default_factory=dict)
    orphans: Mapping[str, Orphan] = field(default_factory=dict)
    up_buckets: Mapping[str, Bucket] = field(default_factory=dict)
    down_buckets: Mapping[str, Bucket] = field(default_factory=dict)
    create_bucket: Bucket | None = None
    creates_per_minute: float = 60.0
    recent_creates: Mapping[str, Sequence[float]] = field(default_factory=dict)
    halted: Pause | None = None
    hints_since: Mapping[str, tuple[HintCode, float]] = field(default_factory=dict)
    installation: str = ""
    name_prefix: Mapping[str, str] = field(default_factory=dict)


# -- what is seen


@dataclass(frozen=True, slots=True)
class SeenWorker:
    """One machine, as the platform and (where it has them) its heartbeats tell together; the worse of both counts.

    `since` = when it got so, where that is known (else the time of the listing).
    """

    index: int
    health: WorkerHealth = WorkerHealth.READY
    since: float | None = None


@dataclass(frozen=True, slots=True)
class SeenSlice:
    """A slice as a platform lists it: `state` is BOOTING, READY, FAILED (with its `error`) or TERMINATING.

    No `workers` = nothing is told of them: what is known of each stays as it is. `ready_at` where it is told.
    """

    name: str
    state: SliceState
    group: str = ""
    installation: str = ""
    created: float | None = None
    ready_at: float | None = None
    workers: tuple[SeenWorker, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All slices of one platform, or the error that kept us from listing all of them (then `slices` says nothing)."""

    slices: tuple[SeenSlice, ...] = ()
    error: str = ""
