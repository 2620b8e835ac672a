"""Many reads that fit together, without keeping any writer waiting."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def consistent_read() -> Iterator[None]:
    """All queries inside see one moment of the database; nothing may be written inside.

    Every transaction of ours is IMMEDIATE on SQLite and takes the write lock; a deferred one reads a snapshot beside
    it (WAL). PostgreSQL gives each statement its own moment unless told otherwise. Inside another transaction it is
    that one that counts.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            _say("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        _say("BEGIN DEFERRED")
        try:
            yield
        finally:
            _say("COMMIT")


def _say(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
