"""Writes events in the caller's transaction and wakes the readers once it is committed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from scaling import clock
from scaling.feed import hints
from scaling.feed.topics import TOPIC_CHARACTERS
from scaling.models import Event

# PostgreSQL's LISTEN/NOTIFY channel; it is one per database.
CHANNEL = "iris_feed"
BATCH_ROWS = 500


class NewEvent(NamedTuple):
    """An event to publish: which `topic` changed, what `kind` of change, a small JSON `payload`; `at` None is now."""

    topic: str
    kind: str
    payload: Mapping[str, Any] | None = None
    at: datetime | None = None


def publish(topic: str, kind: str, payload: Mapping[str, Any] | None = None, at: datetime | None = None) -> Event:
    """Add one event in the caller's transaction; readers learn of it when that is committed."""
    return publish_many([NewEvent(topic, kind, payload, at)])[0]


def publish_many(events: Iterable[tuple[str, str, Mapping[str, Any] | None] | NewEvent]) -> list[Event]:
    """Add events in bulk and in order: `(topic, kind, payload)` or NewEvent; the rows come back with their ids."""
    now = clock.now()
    rows = [_row(NewEvent(*event), now) for event in events]
    if not rows:
        return []
    Event.objects.bulk_create(rows, batch_size=BATCH_ROWS)
    _wake()
    return rows


def _row(event: NewEvent, now: datetime) -> Event:
    payload = {} if event.payload is None else dict(event.payload)
    return Event(at=event.at or now, topic=event.topic[:TOPIC_CHARACTERS], kind=event.kind, payload=payload)


def _wake() -> None:
    """Readers are woken by the commit itself on PostgreSQL, by a hint after it on SQLite; both may be lost."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, '')", [CHANNEL])
    else:
        transaction.on_commit(hints.send, robust=True)
