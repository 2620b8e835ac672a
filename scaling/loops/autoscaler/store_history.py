"""Stores a cycle's actions, each linked to the one it follows from, and tells the feed that a cycle has ended."""

from collections.abc import Iterator, Mapping

from scaling import feed, history
from scaling.autoscaler.models import Action, ActionKind, CycleResult
from scaling.loops.autoscaler.history_rows import new_action
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Action as Row
from scaling.models import Cycle, Slice

# What happens to a slice follows from the request for it.
_OF_A_SLICE = frozenset({ActionKind.SLICE_READY, ActionKind.SLICE_FAILED, ActionKind.SLICE_LOST})
# A marker follows from what was just seen of its group.
_OF_A_GROUP = frozenset({ActionKind.MARKER_SET, ActionKind.MARKER_CLEARED})


def store_history(result: CycleResult, before: Snapshot, cycle: Cycle) -> Mapping[str, int]:
    """Write the actions; returns the id of the action that each slice was asked for by, or adopted by."""
    actions = [action for action in result.actions if not _told_before(action)]
    firsts = [action for action in actions if action.kind not in _OF_A_GROUP]
    rows = history.record_many([new_action(action, _cause(action, before), cycle.pk) for action in firsts])
    latest = {row.group: row.pk for row in rows if row.kind in _OF_A_SLICE}
    seconds = [action for action in actions if action.kind in _OF_A_GROUP]
    history.record_many([new_action(action, latest.get(action.group), cycle.pk) for action in seconds])
    feed.publish_many(_events(result, cycle))
    return {row.slice: row.pk for row in reversed(rows) if row.slice}


def _told_before(action: Action) -> bool:
    """A plan that is only watched is told when it changes, not in every cycle in which it stands."""
    if not action.observed:
        return False
    last = Row.objects.filter(kind=action.kind.value, group=action.group).order_by("-id").first()
    return last is not None and last.outcome == "observed" and last.reason == action.reason


def _cause(action: Action, before: Snapshot) -> int | None:
    row = before.slices.get(action.slice)
    if action.kind in _OF_A_SLICE and row is not None:
        return row.cause_id
    if action.kind is ActionKind.SCALE_DOWN:
        return _drain_of(action, row, before)
    return None


def _drain_of(action: Action, row: Slice | None, before: Snapshot) -> int | None:
    """The operator's order that a release follows from, where there is one."""
    orders = Row.objects.filter(kind__in=("drain", "drain_slice")).order_by("-id")
    if row is not None and row.drain_since is not None:
        order = orders.filter(slice=row.name).first()
    elif (group := before.groups.get(action.group)) is not None and group.drain_since is not None:
        order = orders.filter(group=action.group, slice="").first()
    else:
        return None
    return order.pk if order else None


def _events(result: CycleResult, cycle: Cycle) -> Iterator[tuple[str, str, dict[str, object]]]:
    payload = {"id": cycle.pk, "status": cycle.status, "reason": cycle.reason}
    yield "cycle", "cycle", payload
    if result.status != "ok":
        yield "platforms", "aborted", payload
