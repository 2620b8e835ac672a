"""When an order ends by itself: what the history says of its end, and whether that has come.

Nothing is written when an end comes: it is told in the order's own row, exactly and for as long as that is kept.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import QuerySet

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
    if action.kind not in _ENDS or action.outcome != "ok":
        return None
    end = end_of(action)
    found = Ended(end, "ended by itself") if end and end <= now else None
    closed = _closed_at(action)
    if closed and (found is None or closed < found.at):
        found = Ended(closed, "ended with what it was about")
    return None if found is None or _replaced(action, found.at) else found


def _replaced(action: Action, before: datetime) -> bool:
    same: QuerySet[Action] = Action.objects.filter(group=action.group, slice=action.slice, target=action.target)
    return same.filter(kind__in=_ENDS[action.kind][1], pk__gt=action.pk, at__lt=before, outcome="ok").exists()


def _closed_at(action: Action) -> datetime | None:
    """When the marker or notice that it was about was over."""
    for start, model, over in _OVER:
        key = action.target.removeprefix(start).partition(":")[0]
        if action.target.startswith(start) and key.isascii() and key.isdigit():
            at: datetime | None = model._default_manager.filter(pk=int(key)).values_list(over, flat=True).first()
            return at
    return None


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
