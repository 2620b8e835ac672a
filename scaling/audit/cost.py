"""What acts cost: the device-hours of the slices they are about, and money where a group has a price.

What is counted is one span of time for each slice, by the kind of act:

- an act about one slice (bought, ready, released, lost …): that slice from ready until it ended, or until now;
- a drain: every slice it drained, from the drain (or ready, if later) until it ended, the drain was undone, or now;
- any other act: nothing by itself.

Of several acts together each moment of a slice is counted once. Slices that are no longer stored are not counted, and
the answer says how many those are.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q

from scaling.audit import matching
from scaling.audit.index import TABLE
from scaling.audit.question import Question, Wanted
from scaling.models import Action, Group, Slice

LIFE_KINDS = frozenset(
    {"scale_up", "slice_ready", "slice_adopted", "scale_down", "slice_swept", "slice_lost", "slice_failed",
     "slice_cancelled"}
)  # fmt: skip
# Bounds on what one answer reads.
MOST_DRAINS, MOST_SLICES, MOST_UNDRAINS = 20, 2000, 500
_HOUR = 3600.0

Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Cost:
    """`money` is None where no group has a price; `unpriced` slices are not in it, `unknown` ones nowhere.

    `running`: some slice still counts. `cut`: more slices were affected than were read.
    """

    slices: int
    device_hours: float
    slice_hours: float
    money: Decimal | None
    unpriced: int
    unknown: int
    running: bool
    cut: bool


def cost_of(actions: Sequence[Action], now: datetime, most_slices: int = MOST_SLICES) -> Cost | None:
    """The cost of these acts together; None where none of them is about slices. At most five queries."""
    names = {action.slice for action in actions if action.kind in LIFE_KINDS and action.slice}
    drains = [action for action in actions if action.kind == "drain" and (action.group or action.slice)]
    if not names and not drains:
        return None
    cut = len(names) > most_slices or len(drains) > MOST_DRAINS
    drains = drains[:MOST_DRAINS]
    rows = {row.name: row for row in _slices(sorted(names)[:most_slices], drains, most_slices)}
    cut = cut or len(rows) == most_slices
    spans: dict[str, list[Span]] = defaultdict(list)
    for name in names & rows.keys():
        _add(spans[name], rows[name], None, None, now)
    ends = undone(drains).at
    for drain in drains:
        for row in _drained(drain, rows.values()):
            _add(spans[row.name], row, drain.at, ends.get(drain.pk), now)
    asked = names | {drain.slice for drain in drains if drain.slice}
    return _sum({name: found for name, found in spans.items() if found}, rows, len(asked - rows.keys()), now, cut)


def _slices(names: Sequence[str], drains: Sequence[Action], most: int) -> Iterable[Slice]:
    """The slices of these names, and those of drained groups that lived while any of the drains began."""
    wanted = Q(name__in=[*names, *(drain.slice for drain in drains if drain.slice)])
    of_groups = [drain for drain in drains if not drain.slice]
    if of_groups:
        first, last = min(drain.at for drain in of_groups), max(drain.at for drain in of_groups)
        lived = Q(requested_at__lte=last) & (Q(ended_at=None) | Q(ended_at__gt=first))
        wanted |= Q(group__in=Group.objects.filter(name__in={drain.group for drain in of_groups})) & lived
    return Slice.objects.filter(wanted).select_related("group").order_by("pk")[:most]


def _drained(drain: Action, rows: Iterable[Slice]) -> list[Slice]:
    if drain.slice:
        return [row for row in rows if row.name == drain.slice]
    return [
        row
        for row in rows
        if row.group.name == drain.group
        and row.requested_at <= drain.at
        and (row.ended_at is None or row.ended_at > drain.at)
    ]


@dataclass(frozen=True, slots=True)
class Undone:
    """When each drain was undone, by its id, where it was; and the acts that were looked at for that."""

    at: dict[int, datetime]
    read: list[Action]


def undone(drains: Sequence[Action], most: int = MOST_UNDRAINS) -> Undone:
    """Two queries, none without drains."""
    if not drains:
        return Undone({}, [])
    later = sorted(matching.rows(_undrains(drains, most), whole=False), key=lambda one: one.pk)
    found = {}
    for drain in drains:
        ends = (one.at for one in later if one.pk > drain.pk and (one.group, one.slice) == (drain.group, drain.slice))
        end = next(ends, None)
        if end is not None:
            found[drain.pk] = end
    return Undone(found, later)


def _undrains(drains: Sequence[Action], most: int) -> list[int]:
    """The ids of what may have undone a drain, from the index of kinds: far more rows have such a group or slice."""
    groups = {drain.group for drain in drains}
    question = Question(Wanted(exact={"kind": "undrain"})).within((min(drain.pk for drain in drains), None))
    question.add(f"({TABLE}.\"group\" || '') IN ({', '.join(['%s'] * len(groups))})", *groups)
    return question.ask(most, oldest_first=True)


def _add(spans: list[Span], row: Slice, start: datetime | None, end: datetime | None, now: datetime) -> None:
    span = part_of_life(row, start, end, now)
    if span is not None:
        spans.append(span)


def part_of_life(row: Slice, start: datetime | None, end: datetime | None, now: datetime) -> Span | None:
    """The part of the slice's life between two moments; None for one that was never ready."""
    if row.ready_at is None:
        return None
    begin = max(row.ready_at, start or row.ready_at)
    finish = min(row.ended_at or now, end or now)
    return (begin, finish) if finish > begin else None


def _sum(spans: dict[str, list[Span]], rows: dict[str, Slice], unknown: int, now: datetime, cut: bool) -> Cost:
    devices = slices = 0.0
    money: Decimal | None = None
    unpriced, running = 0, False
    for name, found in spans.items():
        hours, group = _hours(found), rows[name].group
        slices += hours
        devices += hours * group.devices_per_worker * group.workers_per_slice
        running = running or any(end == now for _, end in found)
        if group.price_per_slice_hour is None:
            unpriced += 1
        else:
            money = (money or Decimal()) + group.price_per_slice_hour * Decimal(hours)
    return Cost(len(spans), devices, slices, money, unpriced, unknown, running, cut)


def _hours(spans: Iterable[Span]) -> float:
    """The hours of spans that may overlap, each moment once."""
    total, reached = 0.0, None
    for start, end in sorted(spans):
        begin = start if reached is None else max(start, reached)
        if end > begin:
            total += (end - begin).total_seconds()
        reached = end if reached is None else max(reached, end)
    return total / _HOUR
