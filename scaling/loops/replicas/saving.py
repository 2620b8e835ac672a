"""Writes many scalers' rows at once, each only where nobody else wrote it and the lease still holds.

PostgreSQL joins the new values to the table in one statement. SQLite would compare every value with every row there,
so it gets one prepared statement, run for each row; the transaction being the only writer, the rows that may be written
are found out first.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from scaling.models import Scaler

_POSTGRESQL = """
    UPDATE scaling_scaler AS s SET
        memory = j.memory::jsonb, replicas = j.replicas::jsonb, latest = j.latest::jsonb, pending = j.pending::jsonb,
        zero_by = j.zero_by, memory_version = s.memory_version + 1, ticked_at = %(at)s,
        told = CASE WHEN j.tell THEN j.told ELSE s.told END,
        told_at = CASE WHEN j.tell THEN %(at)s ELSE s.told_at END,
        untold = s.untold + j.untold
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS j(
        row_id bigint, token bigint, version bigint, zero_by text, memory text, replicas text, latest text,
        pending text, tell boolean, told text, untold bigint)
    WHERE s.id = j.row_id AND s.token = j.token AND s.memory_version = j.version AND s.holder = %(holder)s
        AND s.expires_at > %(now)s
    RETURNING s.id
"""
_SQLITE = """
    UPDATE scaling_scaler SET
        memory = %s, replicas = %s, latest = %s, pending = %s, zero_by = %s, memory_version = memory_version + 1,
        ticked_at = %s, told = coalesce(%s, told), told_at = coalesce(%s, told_at), untold = untold + %s
    WHERE id = %s
"""
_ROWS_AT_ONCE = 2000
_IDS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ScalerUpdate:
    """What a tick leaves in one scaler's row; `memory`, `replicas`, `latest`, `pending` are JSON texts.

    `version` is the memory's as it was read. `tell`: the decision is stored now, and `told` is what was new in it;
    `untold` counts one that was worth storing and was left out.
    """

    row_id: int
    token: int
    version: int
    zero_by: str
    memory: str
    replicas: str
    latest: str
    pending: str | None
    tell: bool
    told: str
    untold: int


def save(updates: Sequence[ScalerUpdate], instance: str, ticked_at: datetime, now: datetime) -> set[int]:
    """Write them; the ids of those that were written. The others were changed, or are another's, by now."""
    if not updates:
        return set()
    at = _time(ticked_at)
    with transaction.atomic():
        if connection.vendor == "postgresql":
            return _save_postgresql(updates, instance, at, _time(now))
        return _save_sqlite(updates, instance, at, now)


def _save_postgresql(updates: Sequence[ScalerUpdate], instance: str, at: Any, now: Any) -> set[int]:
    written: set[int] = set()
    with connection.cursor() as cursor:
        for start in range(0, len(updates), _ROWS_AT_ONCE):
            rows = json.dumps([asdict(update) for update in updates[start : start + _ROWS_AT_ONCE]])
            cursor.execute(_POSTGRESQL, {"rows": rows, "at": at, "holder": instance, "now": now})
            written.update(row[0] for row in cursor.fetchall())
    return written


def _save_sqlite(updates: Sequence[ScalerUpdate], instance: str, at: Any, now: datetime) -> set[int]:
    current = {
        row_id: (token, version) for row_id, token, version in _current([u.row_id for u in updates], instance, now)
    }
    free = [one for one in updates if current.get(one.row_id) == (one.token, one.version)]
    values = [
        (
            *(one.memory, one.replicas, one.latest, one.pending, one.zero_by),
            *(at, one.told if one.tell else None, at if one.tell else None, one.untold, one.row_id),
        )
        for one in free
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_SQLITE, values)
    return {one.row_id for one in free}


def _current(ids: Sequence[int], instance: str, now: datetime) -> Iterable[tuple[int, int, int]]:
    """(id, token, version) of the rows whose lease the instance holds; of all of them where many are asked for."""
    rows = Scaler.objects.filter(holder=instance, expires_at__gt=now)
    if len(ids) <= _IDS_AT_ONCE:
        rows = rows.filter(pk__in=ids)
    return rows.values_list("pk", "token", "memory_version")


def _time(moment: datetime) -> Any:
    """A time as Django itself would store it."""
    return connection.ops.adapt_datetimefield_value(moment)
