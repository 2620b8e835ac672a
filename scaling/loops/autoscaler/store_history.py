"""Stores a cycle's actions, each linked to the one it follows from, and tells the feed that a cycle has ended."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Max, QuerySet

from scaling import feed, history
from scaling.autoscaler.models import Action, ActionKind, CycleResult
from scaling.autoscaler.results import BoughtFor
from scaling.loops.autoscaler.history_rows import OBSERVED, new_action
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Action as Row
from scaling.models import Cycle, Group, Slice

# What happens to a slice follows from the request for it.
_OF_A_SLICE = frozenset({ActionKind.SLICE_READY, ActionKind.SLICE_FAILED, ActionKind.SLICE_LOST})
# A marker follows from what was just seen of its group.
_OF_A_GROUP = frozenset({ActionKind.MARKER_SET, ActionKind.MARKER_CLEARED})


def store_history(result: CycleResult, before: Snapshot, cycle: Cycle) -> Mapping[str, int]:
    """Write the actions; returns the id of the action that each slice was asked for by, or adopted by."""
    told = _told_before(result.actions, before)
    actions = [action for action in result.actions if action not in told]
    firsts = [action for action in actions if action.kind not in _OF_A_GROUP]
    orders = _Orders.of([action for action in firsts if action.kind is ActionKind.SCALE_DOWN], before)
    rows = history.record_many(
        [new_action(action, _cause(action, before, orders), cycle.pk, _wanted(action, result)) for action in firsts]
    )
    latest = {row.group: row.pk for row in rows if row.kind in _OF_A_SLICE}
    seconds = [action for action in actions if action.kind in _OF_A_GROUP]
    history.record_many([new_action(action, latest.get(action.group), cycle.pk) for action in seconds])
    feed.publish_many(_events(result, cycle))
    return {row.slice: row.pk for row in reversed(rows) if row.slice}


def _wanted(action: Action, result: CycleResult) -> Sequence[BoughtFor]:
    """The jobs that the slice of a request is for."""
    return result.bought_for.get(action.slice, ()) if action.kind is ActionKind.SCALE_UP else ()


def _told_before(actions: Sequence[Action], before: Snapshot) -> set[Action]:
    """A plan that is only watched is told when it changes, not in every cycle in which it stands.

    Whether it is the same is asked without its figures, which grow (idle for so long): a release is told once in an
    idle window of its slice, requests when their purposes in a group are others than last told.
    """
    watched = [action for action in actions if action.observed]
    if not watched:
        return set()
    releases = [action for action in watched if action.kind is ActionKind.SCALE_DOWN]
    others = [action for action in watched if action.kind is not ActionKind.SCALE_DOWN]
    return _releases_told(releases, before) | _purposes_told(others)


def _releases_told(actions: Sequence[Action], before: Snapshot) -> set[Action]:
    rows = Row.objects.filter(slice__in=[action.slice for action in actions], outcome=OBSERVED).order_by()
    told: dict[str, datetime] = dict(rows.values_list("slice").annotate(Max("at")))
    return {action for action in actions if action.slice in told and told[action.slice] >= _idle_since(action, before)}


def _idle_since(action: Action, before: Snapshot) -> datetime:
    row = before.slices.get(action.slice)
    return (row.idle_since if row is not None else None) or datetime.min.replace(tzinfo=UTC)


def _purposes_told(actions: Sequence[Action]) -> set[Action]:
    """The actions of each kind and group for which the last cycle that told any had the same reasons."""
    planned: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for action in actions:
        planned[action.kind.value, action.group].add(action.reason)
    rows = Row.objects.filter(kind__in={kind for kind, _ in planned}, group__in={group for _, group in planned})
    latest = rows.order_by().values_list("kind", "group").annotate(Max("id")).values_list("id__max", flat=True)
    same = set()
    for last in Row.objects.filter(pk__in=list(latest), outcome=OBSERVED):
        key = (last.kind, last.group)
        told = Row.objects.filter(kind=last.kind, group=last.group, cycle=last.cycle, outcome=OBSERVED)
        if planned.get(key) == set(told.order_by().values_list("reason", flat=True)):
            same.add(key)
    return {action for action in actions if (action.kind.value, action.group) in same}


@dataclass(frozen=True, slots=True)
class _Orders:
    """The operators' latest orders that releases follow from, by what they drain."""

    slices: Mapping[str, int]
    groups: Mapping[str, int]

    @classmethod
    def of(cls, releases: Sequence[Action], before: Snapshot) -> "_Orders":
        slices = {action.slice for action in releases if _is_draining(before.slices.get(action.slice))}
        groups = {action.group for action in releases if _is_draining(before.groups.get(action.group))}
        orders = Row.objects.filter(kind__in=("drain", "drain_slice")).order_by()
        return cls(
            _latest(orders.filter(slice__in=slices), "slice") if slices else {},
            _latest(orders.filter(group__in=groups, slice=""), "group") if groups else {},
        )


def _is_draining(row: Slice | Group | None) -> bool:
    return row is not None and row.drain_since is not None


def _latest(orders: QuerySet[Row], name: str) -> dict[str, int]:
    return dict(orders.values_list(name).annotate(Max("id")))


def _cause(action: Action, before: Snapshot, orders: _Orders) -> int | None:
    row = before.slices.get(action.slice)
    if action.kind in _OF_A_SLICE and row is not None:
        return row.cause_id
    if action.kind is ActionKind.SCALE_DOWN:
        return orders.slices.get(action.slice) if _is_draining(row) else orders.groups.get(action.group)
    return None


def _events(result: CycleResult, cycle: Cycle) -> Iterator[tuple[str, str, dict[str, object]]]:
    payload = {"id": cycle.pk, "status": cycle.status, "reason": cycle.reason}
    yield "cycle", "cycle", payload
    if result.status != "ok":
        yield "platforms", "aborted", payload
