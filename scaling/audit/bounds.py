"""Up to which id the history is settled: no action with an id at or below it can still appear."""

import time

from django.db import connection
from django.db.models import Max

from scaling.models import Action

# So long a round waits for the transactions that were writing actions when it looked.
PATIENCE_SECONDS = 2.0
_POLL_SECONDS = 0.02


def settled_id(patience_seconds: float = PATIENCE_SECONDS) -> int | None:
    """The largest id below which all actions are committed or never will be; None while a writer is not done.

    SQLite has one writer at a time, so what is visible is settled. On PostgreSQL ids commit out of order: whoever took
    an id from the sequence holds a lock on the table until it ends, so once all that held one after the sequence was
    read are gone, every id up to there is settled.
    """
    if connection.vendor != "postgresql":
        newest: int | None = Action.objects.aggregate(newest=Max("id"))["newest"]
        return newest or 0
    last = _last_id_given()
    deadline = time.monotonic() + patience_seconds
    waited_for = _writers()
    while waited_for:
        if time.monotonic() >= deadline:
            return None
        time.sleep(_POLL_SECONDS)
        waited_for &= _writers()
    return last


def _last_id_given() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_serial_sequence('scaling_action', 'id')")
        sequence = cursor.fetchone()[0]
        cursor.execute(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")  # noqa: S608
        return int(cursor.fetchone()[0])


def _writers() -> set[str]:
    """The other transactions that may have taken ids."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted"
            " AND relation = 'scaling_action'::regclass AND mode = 'RowExclusiveLock'"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND pid IS DISTINCT FROM pg_backend_pid()"
        )
        return {str(row[0]) for row in cursor.fetchall()}
