"""JSON texts of columns that a tick reads and writes by the thousand, past Django's own way through each value."""

from typing import Any

import orjson
from django.db.models import TextField
from django.db.models.functions import Cast


def dump(value: Any) -> str:
    """The text to store; raises TypeError for what JSON has not (keys that are no text among it)."""
    return orjson.dumps(value).decode()


def load(text: str | None) -> Any:
    """What `dump` stored; NULL is None."""
    return None if text is None else orjson.loads(text)


def as_text(column: str) -> Cast:
    """A JSON column as the text it is stored as, to be read with `load`."""
    return Cast(column, TextField())
