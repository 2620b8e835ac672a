"""A cluster scenario as it was read: what is there at the start, how the cloud answers, what happens when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from scaling.autoscaler.models import DemandEntry, Marker, QuotaPool, ScalingGroup, SliceState

DEFAULT_BOOT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class StartSlice:
    """A slice that is there at the start; each of its active tasks holds a whole worker."""

    id: str
    group: str
    state: SliceState
    created: float
    idle_since: float | None
    active_tasks: int

    @property
    def is_leaving(self) -> bool:
        """A draining slice without work that does not say since when it is idle has been told to go already."""
        return self.state is SliceState.DRAINING and not self.active_tasks and self.idle_since is None


@dataclass(frozen=True, slots=True)
class ScenarioJob:
    """A job of the scenario; `run_seconds` None = its tasks run until the end or until `job_done`."""

    entry: DemandEntry
    run_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class FailRule:
    """Creates of `group` (None = any) fail with `error` once `after` of them were accepted, from `start` to `end`.

    With `late` they are accepted and fail that many seconds later.
    """

    group: str | None
    error: str
    after: int = 0
    start: float | None = None
    end: float | None = None
    late: float | None = None

    def applies(self, group: str, accepted: int, now: float) -> bool:
        return (
            (self.group is None or self.group == group)
            and accepted >= self.after
            and (self.start is None or self.start <= now)
            and (self.end is None or now < self.end)
        )


class EventKind(StrEnum):
    """What may happen; the value is the key that names it in a file."""

    SET_GROUP = "set_group"
    DRAIN_GROUP = "drain_group"
    UNDRAIN_GROUP = "undrain_group"
    PAUSE_GROUP = "pause_group"
    RESUME_GROUP = "resume_group"
    DRAIN_SLICE = "drain_slice"
    CLEAR_MARKER = "clear_marker"
    ACKNOWLEDGE_MARKER = "acknowledge_marker"
    JOB_DONE = "job_done"
    LOSE_WORKER = "lose_worker"
    WORKER_UNKNOWN = "worker_unknown"
    PLATFORM_LIST_ERROR = "platform_list_error"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `target` is a group, slice or job, the error text for a listing error; `until` ends what lasts.

    `changes`: a group's changed fields. `deadline`: of a drain. `platform` None = every platform.
    """

    at: float
    kind: EventKind
    target: str
    until: float | None = None
    deadline: float | None = None
    platform: str | None = None
    changes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterScenario:
    """Everything a scenario says. Times are seconds from its start; cycles are at 0, every, 2 · every ..."""

    groups: Mapping[str, ScalingGroup]
    pools: Mapping[str, QuotaPool]
    slices: tuple[StartSlice, ...]
    markers: tuple[Marker, ...]
    jobs: tuple[ScenarioJob, ...]
    boot_seconds: float
    fail_rules: tuple[FailRule, ...]
    cycles: int
    every: float
    events: tuple[Event, ...]
