"""Actions of the planner as rows of the history."""

from collections.abc import Sequence
from typing import Any

from scaling.autoscaler.models import Action, ActionKind
from scaling.autoscaler.results import BoughtFor
from scaling.history import NewAction
from scaling.moments import moment

_FAILED = frozenset({ActionKind.CREATE_FAILED, ActionKind.SLICE_FAILED, ActionKind.SLICE_LOST})

OBSERVED = "observed"


# Of the jobs that a slice is bought for so many are named; the rest is counted.
_JOBS_NAMED = 20
_WAITING = "waiting tasks"


def new_action(
    action: Action, cause: int | None = None, cycle: int | None = None, wanted: Sequence[BoughtFor] = ()
) -> NewAction:
    """`outcome`: observed (planned on a platform that is only watched), failed, or ok.

    `wanted`: the jobs that a slice is asked for; the row names the first of them, as acts on a job do.
    """
    outcome = OBSERVED if action.observed else "failed" if action.kind in _FAILED else "ok"
    return NewAction(
        kind=action.kind.value,
        group=action.group,
        slice=action.slice,
        **_of_jobs(action, wanted),
        outcome=outcome,
        cause=cause,
        cycle=cycle,
        at=moment(action.at),
    )


def _of_jobs(action: Action, wanted: Sequence[BoughtFor]) -> dict[str, Any]:
    if not wanted:
        return {"reason": action.reason}
    source, _, job_id = wanted[0].job_id.partition(":")
    jobs = [{"job": one.job_id, "tasks": one.tasks} for one in wanted[:_JOBS_NAMED]]
    after = {"shape": wanted[0].requested, "jobs": jobs, "more_jobs": len(wanted) - len(jobs)}
    # What is only watched is told again when its reasons change; jobs come and go all the time.
    reason = action.reason if action.observed else _reason(action.reason, job_id, wanted)
    return {"job": job_id, "target": f"source {source}", "reason": reason, "after": after}


def _reason(reason: str, job_id: str, wanted: Sequence[BoughtFor]) -> str:
    """`for waiting tasks of train and 2 more jobs (TPU-v5-8)`."""
    shape = f"({wanted[0].requested})"
    if _WAITING not in reason:
        return f"{reason} {shape}"
    more = len(wanted) - 1
    others = f" and {more} more {'job' if more == 1 else 'jobs'}" if more else ""
    return reason.replace(_WAITING, f"{_WAITING} of {job_id}{others} {shape}", 1)
