"""All that is known of one slice, for whoever has to find out what went wrong with it."""

from collections.abc import Iterator
from datetime import UTC, datetime

from scaling.models import Action, Cycle, Platform, Slice
from scaling.platforms.registry import cloud_books

_ROW = ("state", "attempts", "requested_at", "sent_at", "next_attempt_at", "answered_at", "ready_at", "idle_since")
_END = ("delete_asked_at", "ended_at", "not_found_count", "error")


def story(name: str) -> list[str]:
    """Its row, its actions, and what the cloud's books say of it, in lines ordered by time."""
    lines = [f"slice {name}", f"   row: {_row(name)}"]
    return lines + [f"   {_clock(at)}  {words}" for at, words in sorted(_events(name))]


def _row(name: str) -> str:
    row = Slice.objects.filter(name=name).values(*_ROW, *_END).first()
    return "none" if row is None else ", ".join(f"{field}={_shown(value)}" for field, value in row.items())


def _events(name: str) -> Iterator[tuple[float, str]]:
    for action in Action.objects.filter(slice=name):
        yield action.at.timestamp(), f"action {action.pk} {action.kind}: {action.reason} (cycle {action.cycle})"
    books = cloud_books(Platform.objects.get())
    for call in books.calls():
        if call.slice == name:
            answered = "never answered" if call.answered_at is None else f"answered {_clock(call.answered_at)}"
            yield call.arrived_at, f"cloud: {call.kind} from {call.caller}: {call.answer}, {answered}"
    for sold in books.slices():
        if sold.name == name:
            yield sold.accepted_at, f"cloud: sold, ended {_clock(sold.deleted_at)}, gone {_clock(sold.gone_at)}"
    for cycle in Cycle.objects.order_by("-id")[:8]:
        yield cycle.started_at.timestamp(), f"cycle {cycle.pk} {cycle.status} {cycle.reason}"


def _clock(at: float | None) -> str:
    return "never" if at is None else f"{datetime.fromtimestamp(at, UTC):%H:%M:%S.%f}"[:-3]


def _shown(value: object) -> str:
    return _clock(value.timestamp()) if isinstance(value, datetime) else repr(value)
