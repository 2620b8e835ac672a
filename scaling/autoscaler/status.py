"""Step 7 of a cycle: what is told of it."""

from collections.abc import Mapping, Sequence

from scaling.autoscaler.models import Action, CycleResult, PendingHint, Status

RECENT_ACTIONS = 200


def build_status(result: CycleResult, pending_tasks: int, earlier: Sequence[Action] = ()) -> Status:
    """The status after a cycle; `earlier` actions are kept, the newest last, 200 at most."""
    return Status(
        at=result.at,
        status=result.status,
        reason=result.reason,
        groups=result.evaluations,
        hints=result.hints,
        recent_actions=(*earlier, *result.actions)[-RECENT_ACTIONS:],
        pending_tasks=pending_tasks,
        placed_tasks=sum(result.placed.values()),
    )


def build_job_pending_hints(status: Status | Mapping[str, object] | None) -> list[PendingHint]:
    """Why jobs wait: one hint per job that is not fully placed, with `.job_id` and `.reason`.

    Before the first cycle (None, or an empty mapping) there are none.
    """
    return list(status.hints) if isinstance(status, Status) else []
