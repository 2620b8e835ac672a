"""Django's SQLite backend, where a stored time becomes a datetime at a third of the price.

A cycle reads a hundred thousand of them, and a page thousands: Django looks at each three times over, to allow for what
is never stored here. The values are the same: times in UTC, as Django writes them.
"""

import sqlite3
from datetime import UTC, datetime
from typing import Any

from django.db.backends.sqlite3 import base, operations
from django.utils.dateparse import parse_datetime


def _read(stored: bytes) -> datetime | None:
    """A column of times as the connection gives it: without a zone, as Django's own converter reads it."""
    text = stored.decode()
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parse_datetime(text)


for _declared in ("datetime", "timestamp"):
    sqlite3.register_converter(_declared, _read)


class DatabaseOperations(operations.DatabaseOperations):
    def convert_datetimefield_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if value is None:
            return None
        if value.__class__ is datetime and value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return super().convert_datetimefield_value(value, expression, connection)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
