"""Writes many scalers' rows in one statement, each only where nobody else wrote it and the lease still holds."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connection

_SQLITE_ROWS = ", ".join(
    f"json_extract(value, '$.{name}') AS {name}"
    for name in (
        "row_id", "token", "version", "zero_by", "memory", "replicas", "latest", "pending", "tell", "told", "untold"
    )
)  # fmt: skip
_POSTGRESQL_ROWS = (
    "row_id bigint, token bigint, version bigint, zero_by text, memory text, replicas text, latest text, pending text, "
    "tell boolean, told text, untold bigint"
)
_WORDS = {
    "sqlite": (f"(SELECT {_SQLITE_ROWS} FROM json_each(%s)) AS j", ""),  # noqa: S608 - column names of ours only
    "postgresql": (f"jsonb_to_recordset(%s::jsonb) AS j({_POSTGRESQL_ROWS})", "::jsonb"),
}
_STATEMENT = """
    UPDATE scaling_scaler AS s SET
        memory = j.memory{json}, replicas = j.replicas{json}, latest = j.latest{json}, pending = j.pending{json},
        zero_by = j.zero_by, memory_version = s.memory_version + 1, ticked_at = %s,
        told = CASE WHEN j.tell THEN j.told ELSE s.told END,
        told_at = CASE WHEN j.tell THEN %s ELSE s.told_at END,
        untold = s.untold + j.untold
    FROM {rows}
    WHERE s.id = j.row_id AND s.token = j.token AND s.memory_version = j.version AND s.holder = %s AND s.expires_at > %s
    RETURNING id
"""
_ROWS_AT_ONCE = 2000


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
    written: set[int] = set()
    for start in range(0, len(updates), _ROWS_AT_ONCE):
        written |= _save(updates[start : start + _ROWS_AT_ONCE], instance, ticked_at, now)
    return written


def _save(updates: Sequence[ScalerUpdate], instance: str, ticked_at: datetime, now: datetime) -> set[int]:
    rows, json_cast = _WORDS[connection.vendor]
    given = json.dumps([asdict(update) for update in updates])
    values = [_time(ticked_at), _time(ticked_at), given, instance, _time(now)]
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT.format(rows=rows, json=json_cast), values)
        return {row[0] for row in cursor.fetchall()}


def _time(moment: datetime) -> Any:
    """A time as Django itself would store it."""
    return connection.ops.adapt_datetimefield_value(moment)
