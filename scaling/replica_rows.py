"""A scaler's replicas between ticks, as its row holds them: a list of eight values for each (`StoredReplica`)."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class StoredReplica(NamedTuple):
    """One replica as the latest tick saw it: times in Unix seconds, `since` when it came to be of its class.

    `created` and `checked` are None where the Gateway told none; `was_healthy` holds for ever once it was.
    """

    id: str
    status: str
    healthy: bool
    created: float | None
    checked: float | None
    was_healthy: bool
    class_: str
    since: float


# As JSON objects call them.
NAMES = tuple(field.rstrip("_") for field in StoredReplica._fields)


def stored(rows: Iterable[Sequence[Any]]) -> list[StoredReplica]:
    """The replicas of a scaler's row."""
    return [StoredReplica(*row) for row in rows]
