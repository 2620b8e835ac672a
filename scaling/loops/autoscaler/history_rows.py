"""Actions of the planner as rows of the history."""

from scaling.autoscaler.models import Action, ActionKind
from scaling.history import NewAction
from scaling.loops.autoscaler.moments import moment

_FAILED = frozenset({ActionKind.CREATE_FAILED, ActionKind.SLICE_FAILED, ActionKind.SLICE_LOST})

OBSERVED = "observed"


def new_action(action: Action, cause: int | None = None, cycle: int | None = None) -> NewAction:
    """`outcome`: observed (planned on a platform that is only watched), failed, or ok."""
    outcome = OBSERVED if action.observed else "failed" if action.kind in _FAILED else "ok"
    return NewAction(
        kind=action.kind.value,
        group=action.group,
        slice=action.slice,
        reason=action.reason,
        outcome=outcome,
        cause=cause,
        cycle=cycle,
        at=moment(action.at),
    )
