"""What each of many acts cost by itself: a few statements for a portion of the history, whatever its acts are."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q

from scaling.audit.cost import LIFE_KINDS, part_of_life, undone
from scaling.models import Action, Group, Slice

# Of so many ends of drains at most; where there are more, what a drain without one cost is not known.
MOST_UNDRAINS = 5_000
_CHUNK = 1_000
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class OwnCost:
    """`money` is None where the group has no price."""

    slice_hours: float
    device_hours: float
    money: Decimal | None

    def __add__(self, other: "OwnCost") -> "OwnCost":
        money = other.money if self.money is None else self.money + (other.money or 0)
        return OwnCost(self.slice_hours + other.slice_hours, self.device_hours + other.device_hours, money)


def own_costs(actions: Iterable[Action], now: datetime) -> dict[int, OwnCost]:
    """By id, what is counted for each act alone (see `scaling.audit.cost`), without what followed from it.

    Acts that are not about slices, or of whose slices none is stored, are left out. Four statements at most; slices of
    drained groups are read a few at a time.
    """
    about = [one for one in actions if one.kind == "drain" or (one.kind in LIFE_KINDS and one.slice)]
    drains = [one for one in about if one.kind == "drain"]
    found = undone(drains, MOST_UNDRAINS)
    cut = len(found.read) == MOST_UNDRAINS
    known = [one for one in about if one.kind != "drain" or not cut or one.pk in found.at]
    costs: dict[int, OwnCost] = {}
    for action, row in _pairs(known):
        start = action.at if action.kind == "drain" else None
        cost = _cost(row, start, found.at.get(action.pk), now)
        costs[action.pk] = costs[action.pk] + cost if action.pk in costs else cost
    return costs


def _pairs(actions: Sequence[Action]) -> Iterable[tuple[Action, Slice]]:
    """Each act with each stored slice that it is about."""
    by_slice, by_group = _by(actions, "slice"), _by([one for one in actions if not one.slice], "group")
    if by_slice:
        for row in Slice.objects.filter(name__in=by_slice).select_related("group").order_by():
            yield from ((action, row) for action in by_slice[row.name])
    if by_group:
        drains = [drain for found in by_group.values() for drain in found]
        first, last = min(drain.at for drain in drains), max(drain.at for drain in drains)
        lived = Q(requested_at__lte=last) & (Q(ended_at=None) | Q(ended_at__gt=first))
        rows = Slice.objects.filter(lived, group__in=Group.objects.filter(name__in=by_group))
        for row in rows.select_related("group").order_by().iterator(chunk_size=_CHUNK):
            yield from ((drain, row) for drain in by_group[row.group.name] if _lived_at(row, drain.at))


def _by(actions: Sequence[Action], column: str) -> Mapping[str, list[Action]]:
    found: defaultdict[str, list[Action]] = defaultdict(list)
    for action in actions:
        if name := getattr(action, column):
            found[name].append(action)
    return found


def _lived_at(row: Slice, at: datetime) -> bool:
    return row.requested_at <= at and (row.ended_at is None or row.ended_at > at)


def _cost(row: Slice, start: datetime | None, end: datetime | None, now: datetime) -> OwnCost:
    span = part_of_life(row, start, end, now)
    hours = (span[1] - span[0]).total_seconds() / _HOUR if span else 0.0
    group, price = row.group, row.group.price_per_slice_hour
    devices = hours * group.devices_per_worker * group.workers_per_slice
    return OwnCost(hours, devices, None if price is None else price * Decimal(hours))
