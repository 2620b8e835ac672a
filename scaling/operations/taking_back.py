"""Which act an act takes back. It is told as its cause, so that the history shows both of them from either side."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from django.db.models import QuerySet

from scaling.models import Action
from scaling.operations.acts import ActKind

# The kinds of act that take one of this kind back, on the same thing. An act that moves an order's end moves it back.
WAYS_BACK: dict[str, frozenset[str]] = {
    ActKind.SET_LIMITS: frozenset({ActKind.SET_LIMITS}),
    ActKind.DRAIN: frozenset({ActKind.UNDRAIN, ActKind.DRAIN}),
    ActKind.PAUSE: frozenset({ActKind.RESUME, ActKind.PAUSE}),
    ActKind.RESUME: frozenset({ActKind.PAUSE}),
    ActKind.ACKNOWLEDGE: frozenset({ActKind.UNACKNOWLEDGE}),
    ActKind.SET_QUOTA: frozenset({ActKind.SET_QUOTA}),
    ActKind.SET_PLATFORM_MODE: frozenset({ActKind.SET_PLATFORM_MODE}),
    ActKind.HALT: frozenset({ActKind.UNHALT}),
    ActKind.UNHALT: frozenset({ActKind.HALT}),
    ActKind.SET_TARGETS: frozenset({ActKind.SET_TARGETS}),
    ActKind.SCALE: frozenset({ActKind.WAKE}),
}
# What ends an order by itself, whichever way a person came to it.
_ENDS: dict[str, str] = {
    ActKind.UNDRAIN: ActKind.DRAIN,
    ActKind.RESUME: ActKind.PAUSE,
    ActKind.UNACKNOWLEDGE: ActKind.ACKNOWLEDGE,
    ActKind.UNHALT: ActKind.HALT,
}
_now_taken_back: ContextVar[int | None] = ContextVar("now_taken_back", default=None)


@contextmanager
def taking_back(action: Action) -> Iterator[None]:
    """The act that is carried out inside takes this one back."""
    token = _now_taken_back.set(action.pk)
    try:
        yield
    finally:
        _now_taken_back.reset(token)


def cause_of(kind: str, group: str = "", slice_: str = "", target: str = "") -> int | None:
    """The act that one of this kind on that thing takes back: the one being undone, else the order that it ends."""
    undone = _now_taken_back.get()
    if undone is not None or kind not in _ENDS:
        return undone
    orders: QuerySet[Action] = Action.objects.filter(
        kind=_ENDS[kind], group=group, slice=slice_, target=target, outcome="ok"
    )
    order = orders.order_by("-id").only("pk").first()
    return order.pk if order else None


def takes_back(action: Action, cause: Action) -> bool:
    """Whether an act takes its cause back, and does not merely follow from it."""
    same = (action.group, action.slice, action.target) == (cause.group, cause.slice, cause.target)
    return same and action.kind in WAYS_BACK.get(cause.kind, ())


def taken_back_by(action: Action) -> Action | None:
    """The latest act that took it back. One query, none where nothing takes such an act back."""
    ways = WAYS_BACK.get(action.kind)
    if not ways:
        return None
    # Things are compared here: SQLite would go through all rows without a slice instead of those with this cause.
    ways_back = Action.objects.filter(cause=action, kind__in=ways).order_by("-id")
    return next((act for act in ways_back.iterator(chunk_size=100) if takes_back(act, action)), None)


def taken_back(actions: Sequence[Action]) -> dict[int, int]:
    """The ids of those that were taken back, with that of the latest act that did. One query for all of them."""
    candidates = {action.pk: action for action in actions if action.kind in WAYS_BACK}
    if not candidates:
        return {}
    ways = {way for action in candidates.values() for way in WAYS_BACK[action.kind]}
    acts = Action.objects.filter(cause_id__in=candidates, kind__in=ways).defer("before", "after").order_by("id")
    caused = ((act, candidates[act.cause_id]) for act in acts.iterator(chunk_size=100) if act.cause_id)
    return {action.pk: act.pk for act, action in caused if takes_back(act, action)}
