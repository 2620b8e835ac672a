"""When an order ends by itself: what the history says of its end, and whether that has come.

Nothing is written when an end comes: it is told in the order's own row, exactly and for as long as that is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

from scaling.models import Action, Marker, Notice
from scaling.operations.acts import ActKind, when

# Kinds of order with an end of their own: the field of it, and the kinds of act on the same thing that replace it.
_ENDS: dict[str, tuple[str, frozenset[str]]] = {
    ActKind.PAUSE: ("pause_until", frozenset({ActKind.PAUSE, ActKind.RESUME, ActKind.FORGET})),
    ActKind.ACKNOWLEDGE: ("acknowledged_until", frozenset({ActKind.ACKNOWLEDGE, ActKind.UNACKNOWLEDGE})),
    ActKind.HOLD: ("until", frozenset({ActKind.HOLD})),
}
# Kinds of order whose row tells more than who and why.
HAVE_TERMS = (*_ENDS, ActKind.DRAIN)
# Later acts of a kind on some things, as `_thing` names them.
_REPLACING = """
    SELECT * FROM (
        SELECT id, at, kind, slice, target, "group" FROM scaling_action
        WHERE kind = %s AND id > %s AND outcome = 'ok' AND ("group" || ' ' || slice || ' ' || target) IN ({things})
        ORDER BY id LIMIT {most}
    ) later
"""
# So many of a kind are looked at, for all orders of a page; what lies behind them is not known.
_MOST_LATER = 500
_DIRECTIONS = {"up": "adding only", "down": "removing only"}
# What acts name by its key: the start of their target, the rows, and when one of them is over.
_OVER = (("marker ", Marker, "closed_at"), ("notice ", Notice, "over_at"))


@dataclass(frozen=True, slots=True)
class Ended:
    """An order that is over without anybody's doing: when, and how in words that stand before `at`."""

    at: datetime
    how: str

    def __str__(self) -> str:
        return f"{self.how} at {when(self.at)}"


def end_of(action: Action) -> datetime | None:
    """When it ends by itself; None for never, for what is no order, and for one that was refused."""
    after = action.after if isinstance(action.after, dict) else {}
    if action.kind not in _ENDS or action.outcome != "ok":
        return None
    return _moment(after.get(_ENDS[action.kind][0]))


def deadline_of(action: Action) -> datetime | None:
    """When a drain ends what is still busy; None where it may finish."""
    after = action.after if isinstance(action.after, dict) else {}
    return _moment(after.get("drain_deadline")) if action.kind == ActKind.DRAIN else None


def is_open_ended(action: Action) -> bool:
    """Whether it is a pause that lasts until somebody ends it."""
    after = action.after if isinstance(action.after, dict) else {}
    known = "pause_until" in after or "pause_since" in after
    return action.kind == ActKind.PAUSE and action.outcome == "ok" and known and end_of(action) is None


def direction_of(action: Action) -> str:
    """What a pause stops, in words where that is not everything."""
    after = action.after if isinstance(action.after, dict) else {}
    return _DIRECTIONS.get(str(after.get("pause_direction")), "") if action.kind == ActKind.PAUSE else ""


def ended(action: Action, now: datetime) -> Ended | None:
    """How it ended by itself; None while it holds, and where another act replaced it before. At most two queries."""
    return ended_of([action], now).get(action.pk)


def ended_of(actions: Iterable[Action], now: datetime) -> dict[int, Ended]:
    """The same of many by id, with what they set; without those that did not. At most three queries for all.

    Without those too that have so many later acts beside them that it is not known whether one replaced them.
    """
    orders = [action for action in actions if action.kind in _ENDS and action.outcome == "ok"]
    closed = _closed(orders)
    found: dict[int, tuple[Action, Ended]] = {}
    for action in orders:
        over, end = closed.get(action.target), end_of(action)
        if over and (end is None or over < end or end > now):
            found[action.pk] = action, Ended(over, "ended with what it was about")
        elif end and end <= now:
            found[action.pk] = action, Ended(end, "ended by itself")
    later = _later([action for action, _ in found.values()])
    return {pk: one for pk, (action, one) in found.items() if not _may_be_replaced(action, one.at, later)}


def _closed(orders: Iterable[Action]) -> dict[str, datetime]:
    """When the markers and notices that orders are about were over, by target. A query for each kind of those."""
    found: dict[str, datetime] = {}
    for start, model, over in _OVER:
        targets = {action.target for action in orders if action.target.startswith(start)}
        keys = {target: target.removeprefix(start).partition(":")[0] for target in targets}
        known = {target: int(key) for target, key in keys.items() if key.isascii() and key.isdigit()}
        if known:
            rows = model._default_manager.filter(pk__in=set(known.values())).values_list("pk", over)
            times = {pk: at for pk, at in rows if at}
            found |= {target: times[pk] for target, pk in known.items() if pk in times}
    return found


def _later(orders: Sequence[Action]) -> dict[str, list[Action]]:
    """The acts that may have replaced one of these, by kind: later ones on the same things, in their order.

    One query, none without orders; a list of `_MOST_LATER` may lack some.
    """
    if not orders:
        return {}
    kinds = sorted(set().union(*(_ENDS[action.kind][1] for action in orders)))
    things = sorted({_thing(action) for action in orders})
    first = min(action.pk for action in orders)
    # From the index of kinds, each in its order: of a group or a deployment there may be far more acts than such ones.
    part = _REPLACING.replace("{things}", ", ".join(["%s"] * len(things))).replace("{most}", str(_MOST_LATER))
    values = [value for kind in kinds for value in (kind, first, *things)]
    found: dict[str, list[Action]] = {kind: [] for kind in kinds}
    for act in Action.objects.raw(" UNION ALL ".join([part] * len(kinds)), values):
        found[act.kind].append(act)
    return {kind: sorted(acts, key=attrgetter("pk")) for kind, acts in found.items()}


def _may_be_replaced(action: Action, before: datetime, later: Mapping[str, Sequence[Action]]) -> bool:
    """Whether an act on the same thing came before this moment, or one may have come that was not looked at."""
    return any(_has_one(action, before, later[kind]) for kind in _ENDS[action.kind][1])


def _has_one(action: Action, before: datetime, acts: Sequence[Action]) -> bool:
    thing = _thing(action)
    is_cut = len(acts) >= _MOST_LATER and acts[-1].at < before
    return is_cut or any(act.pk > action.pk and act.at < before and _thing(act) == thing for act in acts)


def _thing(action: Action) -> str:
    return f"{action.group} {action.slice} {action.target}"


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
