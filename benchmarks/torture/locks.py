"""Makes the short gaps longer, from outside: whoever wants to write waits, as behind any other busy writer.

Iris' write lock held from before an answer arrives keeps "answered, not saved" open; the books' lock held from the
moment an intent is there keeps the call at the cloud's door.
"""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from scaling.platforms.simulated.store import SCHEMA


@dataclass(slots=True)
class Locks:
    """The write locks of one installation: of its database and the books as files, or of a server's by URL."""

    iris: Path
    books: Path
    url: str = ""
    _held: list[Any] = field(default_factory=list)

    def hold_iris(self) -> None:
        """From now on nothing of Iris' slices is written, until `release`."""
        if self.url:
            self._hold_postgres("LOCK TABLE scaling_slice IN EXCLUSIVE MODE")
        else:
            self._hold_sqlite(self.iris)

    def hold_books(self) -> None:
        """From now on no call reaches the cloud, until `release`."""
        if self.url:
            self._hold_postgres(f"SELECT pg_advisory_xact_lock(hashtext('{SCHEMA}'))")
        else:
            self._hold_sqlite(self.books)

    def release(self) -> None:
        """Let everybody write again."""
        while self._held:
            connection = self._held.pop()
            connection.rollback()
            connection.close()

    def _hold_sqlite(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._held.append(connection)
        connection.execute("BEGIN IMMEDIATE")

    def _hold_postgres(self, statement: str) -> None:
        connection = psycopg.connect(self.url)
        self._held.append(connection)
        connection.execute(statement.encode())
