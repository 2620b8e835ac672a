"""Looks at Iris' database and the cloud's books from outside, over one connection, without going through either."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.torture.windows import SliceFacts
from scaling.platforms.simulated.store import SCHEMA

CLOUD = "simulated"

_CALLED = f"""EXISTS (
    SELECT 1 FROM {SCHEMA}.calls c WHERE c.cloud = '{CLOUD}' AND c.kind = '{{kind}}' AND c.slice = s.name
    AND c.answered_at IS NOT NULL AND c.answer IN ({{answers}}))"""
_BOOKED = f"EXISTS (SELECT 1 FROM {SCHEMA}.slices b WHERE b.cloud = '{CLOUD}' AND b.name = s.name{{also}})"
_FACTS = f"""
    SELECT s.name, g.name, s.state, s.attempts, s.delete_asked_at IS NOT NULL,
        {_BOOKED.format(also="")}, {_BOOKED.format(also=" AND b.deleted_at IS NOT NULL")},
        {_CALLED.format(kind="create", answers="'accepted', 'exists'")},
        {_CALLED.format(kind="delete", answers="'accepted', 'not_found'")}
    FROM scaling_slice s JOIN scaling_group g ON g.id = s.group_id
    WHERE s.ended_at IS NULL ORDER BY s.id"""


@dataclass(frozen=True, slots=True)
class Eye:
    """Reads with plain SQL, the same for both databases; the books are the schema `simulated_cloud`."""

    connection: Any
    mark: str

    @classmethod
    def on_sqlite(cls, iris: Path, books: Path) -> "Eye":
        connection = sqlite3.connect(iris, isolation_level=None, timeout=30)
        connection.execute(f"ATTACH ? AS {SCHEMA}", [str(books)])
        return cls(connection, "?")

    @classmethod
    def on_postgres(cls, url: str) -> "Eye":
        return cls(psycopg.connect(url, autocommit=True), "%s")

    def rows(self, sql: str, *parameters: object) -> Sequence[tuple[Any, ...]]:
        """The rows of a statement with `?` for parameters."""
        return list(self.connection.execute(sql.replace("?", self.mark), parameters))

    def facts(self) -> list[SliceFacts]:
        """Every slice that has not ended in Iris, oldest first."""
        return [
            SliceFacts(name, group, state, attempts, *(bool(fact) for fact in rest))
            for name, group, state, attempts, *rest in self.rows(_FACTS)
        ]

    def is_listing(self, since: float) -> bool:
        """Whether a listing that came to the cloud after `since` (Unix seconds) is not answered yet."""
        return bool(
            self.rows(
                f"SELECT 1 FROM {SCHEMA}.calls WHERE cloud = ? AND kind = 'list' AND arrived_at > ?"
                " AND answered_at IS NULL",
                CLOUD,
                since,
            )
        )

    def is_alone(self) -> bool:
        """Whether no process of the control plane is connected any more (a server notices a death a little later)."""
        if self.mark == "?":
            return True
        return not self.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'iris'")

    def close(self) -> None:
        self.connection.close()
