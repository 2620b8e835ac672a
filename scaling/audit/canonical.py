"""The canonical form of an action: the bytes that its digest is over, the same on every database.

One JSON array of its columns in the order of `COLUMNS[form]`: no blanks, keys sorted, everything but ASCII escaped.
Times are UTC to the microsecond. A number is written by its value, without a fraction where it is whole: databases
keep 1e16 and 10000000000000000 differently. A null in the database and a JSON null are the same.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

# A later version of the table gets a form of its own beside these: old seals are verified by what they were made of.
COLUMNS: dict[int, tuple[str, ...]] = {
    1: (
        "id", "at", "kind", "actor_kind", "actor", "source", "group", "slice", "job", "target", "reason", "outcome",
        "before", "after", "cause_id", "cycle",
    ),
}  # fmt: skip
FORM = 1
DIGEST_BYTES = 32

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def canonical(values: Sequence[Any]) -> bytes:
    """The form of one row, given its columns in order."""
    return _encode([_plain(value) for value in values]).encode("ascii")


def digest(values: Sequence[Any]) -> bytes:
    return hashlib.sha256(canonical(values)).digest()


def time_text(at: datetime) -> str:
    """`2026-01-01T12:00:00.000000Z`."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value]


def _number(value: float) -> int | float:
    """By way of its shortest decimals, as a database that keeps decimals gives it back."""
    exact = Decimal(repr(value))
    return int(exact) if exact == exact.to_integral_value() else value
