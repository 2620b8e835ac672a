"""What a cycle decides and tells: its output. All frozen; times are on the axis of its input."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scaling.autoscaler.state import ClusterState
from scaling.autoscaler.words import ActionKind, CycleStatus, DeleteCause, HintCode, Outcome, SliceState


@dataclass(frozen=True, slots=True)
class Check:
    """One verdict of the filter chain with what the page shows of it."""

    outcome: Outcome
    blocked: bool
    detail: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class GroupEvaluation:
    """What the planner found and decided for one group; pages, API, metrics and logs show this record.

    Outcome, checks, capacity, quota and slice counts are those before this cycle's buying. `assigned` counts tasks,
    `deficit` the slices opened for demand, `scale_up` the slices asked for now (less what a rate deferred).
    """

    name: str
    outcome: Outcome
    checks: tuple[Check, ...]
    detail: str
    until: float | None
    capacity_remaining: int
    quota_remaining: int | None
    backoff_expires_at: float | None
    stockout_until: float | None
    slices: Mapping[SliceState, int]
    assigned: int = 0
    deficit: int = 0
    scale_up: int = 0
    deferred: int = 0
    scale_down: tuple[str, ...] = ()
    target: int = 0
    used: int = 0
    backoff_skipped: bool = False


class BlockedBy(NamedTuple):
    """A group that a job might use and cannot, with the outcome that says why."""

    group: str
    outcome: Outcome
    until: float | None


class PendingHint(NamedTuple):
    """Why a job is not fully placed. `reason` starts with the code; `log_line` is for a logger, when the code changes.

    A NamedTuple, as there may be one for each of 100,000 jobs.
    """

    job_id: str
    code: HintCode
    reason: str
    blocked_by: tuple[BlockedBy, ...]
    since: float
    requested: str = ""
    available_groups: int = 0

    @property
    def unsatisfied(self) -> bool:
        """Whether nothing is coming for what is missing."""
        return self.code is not HintCode.SCALING_UP and self.code is not HintCode.WAITING_FOR_WORKERS

    @property
    def log_line(self) -> str:
        return (
            f"Unsatisfied autoscaler demand: {self.code}: job={self.job_id}, requested={self.requested}, "
            f"available_groups={self.available_groups}"
        )


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that was done or happened, for the history; `group` and `slice` are names, "" where none.

    `observed`: planned on a platform in `observe` mode and not sent.
    """

    kind: ActionKind
    group: str
    slice: str = ""
    reason: str = ""
    at: float = 0.0
    observed: bool = False

    # The names that scripts written for the reference autoscaler use.
    @property
    def action_type(self) -> str:
        return self.kind.value

    @property
    def scale_group(self) -> str:
        return self.group

    @property
    def slice_id(self) -> str:
        return self.slice


class BoughtFor(NamedTuple):
    """A job that is to use a slice that is asked for: how many of its tasks, and the device in words (`TPU-v5-8`).

    Of slices that are planned together, `tasks` counts those on all of them.
    """

    job_id: str
    tasks: int
    requested: str


@dataclass(frozen=True, slots=True)
class CreateIntent:
    """Ask `platform` for the slice `name` of `group`; `retry`: it was asked for before under the same name."""

    name: str
    group: str
    platform: str
    retry: bool = False


@dataclass(frozen=True, slots=True)
class DeleteIntent:
    """Tell `platform` to end the slice `name`."""

    name: str
    group: str
    platform: str
    cause: DeleteCause
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CycleResult:
    """Everything one cycle decided; `state` is the cluster after it (the same but for the counters when aborted).

    `creates` (retries among them) and `deletes` are to be sent once `state` is stored; nothing of a platform in
    `observe` is among them. `gone` names the slices that are no longer in `state`. `placed` counts by job id the
    tasks that got room (a job left out got none). `bought_for` says by the name of a slice that is asked for which
    jobs are to use it (one left out is for none). `deferred` counts slices by group that a rate holds back.
    """

    status: CycleStatus
    reason: str
    at: float
    state: ClusterState
    evaluations: Mapping[str, GroupEvaluation] = field(default_factory=dict)
    hints: tuple[PendingHint, ...] = ()
    actions: tuple[Action, ...] = ()
    creates: tuple[CreateIntent, ...] = ()
    deletes: tuple[DeleteIntent, ...] = ()
    gone: tuple[str, ...] = ()
    placed: Mapping[str, int] = field(default_factory=dict)
    bought_for: Mapping[str, tuple[BoughtFor, ...]] = field(default_factory=dict)
    deferred: Mapping[str, int] = field(default_factory=dict)
    backoff_skipped: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """What is emitted after a cycle: groups, recent actions, hints, demand."""

    at: float
    status: CycleStatus
    reason: str
    groups: Mapping[str, GroupEvaluation]
    hints: tuple[PendingHint, ...]
    recent_actions: tuple[Action, ...]
    pending_tasks: int = 0
    placed_tasks: int = 0
