"""Reads the feed in its one order: never skips an event that commits late, never gives one twice.

On SQLite there is one writer at a time, so ids are in commit order. On PostgreSQL ids commit out of order: rows are
read in the order of (writing transaction, id), and only below the oldest transaction still running, whose rows could
yet appear. All functions use this thread's database connection.
"""

import json
import math
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction

from scaling.feed import topics as topic_rules
from scaling.feed.dialects import dialect
from scaling.feed.positions import Position
from scaling.models import Event

BATCH_ROWS = 1000
# The row that stands where older ones were removed: whoever stopped before it cannot be served from the feed.
PRUNED = ("feed", "pruned")


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """An event as readers get it. `str(event.position)` is the cursor of someone who has seen it."""

    position: Position
    topic: str
    kind: str
    payload: dict[str, Any]
    at: datetime


def head() -> Position:
    """Where a reader stands who has seen all that this database shows now, and misses nothing that comes."""
    with connection.cursor() as cursor:
        cursor.execute(dialect().head)
        xid, last = cursor.fetchone()
    return Position(int(xid), int(last))


def read_after(
    position: Position, *, topics: Collection[str] | None = None, until: Position | None = None, limit: int = BATCH_ROWS
) -> list[FeedEvent]:
    """The next events after `position`, up to and with `until`, at most `limit`; all, or those that reach `topics`."""
    words = dialect()
    conditions, values = [words.after], words.place(position)
    if until is not None:
        conditions.append(words.until)
        values += words.place(until)
    if topics is not None:
        condition, wanted = _reaching(topics)
        conditions.append(condition)
        values += wanted
    with connection.cursor() as cursor:
        cursor.execute(words.select(*conditions), [*values, limit])
        return [_event(row) for row in cursor.fetchall()]


def has_unread(position: Position) -> bool:
    """Whether there is any event after `position`, also one that `read_after` holds back for a running transaction."""
    words = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT EXISTS (SELECT 1 FROM scaling_event WHERE {words.after})",  # noqa: S608
            words.place(position),
        )
        return bool(cursor.fetchone()[0])


def is_complete_after(position: Position) -> bool:
    """Whether the feed still has every event after `position`, and `position` is one of this feed's past."""
    foreign = connection.vendor == "postgresql" and position.xid == 0 < position.id
    if foreign or position > head():
        return False
    first = read_after(Position(0, 0), limit=1)
    return not first or (first[0].topic, first[0].kind) != PRUNED or position >= first[0].position


def prune(before: datetime, batch_rows: int = 5000, deadline: float = math.inf) -> int:
    """Remove the events older than `before`, in batches; returns how many. The only way in which events leave.

    At `deadline` (monotonic seconds) no further batch is begun.

    The last one removed stays as a mark, so that a reader who stopped before it is told so instead of missing events.
    """
    removed = 0
    while time.monotonic() < deadline:
        with transaction.atomic():
            old = _oldest(before, batch_rows)
            if len(old) < 2:
                break
            words, mark = dialect(), old[-1]
            with connection.cursor() as cursor:
                cursor.execute(words.delete_before, words.place(mark))
            Event.objects.filter(pk=mark.id).update(topic=PRUNED[0], kind=PRUNED[1], payload={})
        removed += len(old) - 1
    return removed


def _oldest(before: datetime, limit: int) -> list[Position]:
    """Where the oldest events stand, up to the first that is not older than `before`."""
    old = []
    for event in read_after(Position(0, 0), limit=limit):
        if event.at >= before:
            break
        old.append(event.position)
    return old


def _reaching(topics: Collection[str]) -> tuple[str, list[str]]:
    """A condition for the events that reach any of `topics`, and its values."""
    exact, prefixes = sorted(topics), topic_rules.prefixes(topics)
    condition = " OR ".join(
        [f"topic IN ({', '.join(['%s'] * len(exact))})"] * bool(exact) + ["topic LIKE %s"] * len(prefixes)
    )
    return f"({condition or 'false'})", [*exact, *(f"{prefix}%" for prefix in prefixes)]


def _event(row: tuple[Any, ...]) -> FeedEvent:
    xid, number, topic, kind, payload, at = row
    if isinstance(payload, str):
        payload = json.loads(payload)
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return FeedEvent(Position(int(xid), number), topic, kind, payload, at)
