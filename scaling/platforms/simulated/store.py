"""Where the simulated cloud keeps its books: its own SQLite file or PostgreSQL schema, over its own connections.

Never Django's connection: what the cloud has done must not be undone by a rollback of Iris, as with a real cloud.
Each transaction opens a connection of its own, so that the store is safe in any thread and after a fork.
"""

import contextlib
import os
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg.rows import dict_row

from scaling.platforms.base import PlatformUnreachableError
from scaling.platforms.simulated.schema import postgres_schema, sqlite_schema

SCHEMA = "simulated_cloud"
_BUSY_SECONDS = 30.0
# A cloud's answer is waited for 10 s unless configured otherwise: longer waits would only pile up.
_CONNECT_SECONDS = 5
_LOCK_SECONDS = 10.0

Row = dict[str, Any]


class Transaction(Protocol):
    """One open transaction. SQL is written once for both databases, with `?` for parameters."""

    def run(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """The rows a statement returns; none for one that returns nothing."""
        ...


class Store(Protocol):
    """A database of books."""

    def read(self) -> Any:
        """A context manager: one consistent view."""
        ...

    def write(self) -> Any:
        """A context manager: one transaction at a time over all processes, committed when the block ends well."""
        ...


@dataclass(frozen=True, slots=True)
class _SqliteTransaction:
    connection: sqlite3.Connection

    def run(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        return [dict(row) for row in self.connection.execute(sql, tuple(parameters))]


@dataclass(frozen=True, slots=True)
class SqliteStore:
    """Books in one file beside Iris's own."""

    path: Path

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        try:
            connection = self._connect()
            try:
                connection.execute(begin)
                yield _SqliteTransaction(connection)
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.OperationalError as error:
            raise PlatformUnreachableError(f"The cloud's books {self.path} cannot be used: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        if not self.path.exists():
            self._make()
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def _make(self) -> None:
        """Make the file aside and link it into place: whoever comes second finds it whole (a switch to WAL by two at
        once fails with a lock error that no time-out helps against)."""
        aside = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}")
        connection = sqlite3.connect(aside)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            for statement in sqlite_schema():
                connection.execute(statement)
        finally:
            connection.close()
        with contextlib.suppress(FileExistsError):
            os.link(aside, self.path)
        aside.unlink()


@dataclass(frozen=True, slots=True)
class _PostgresTransaction:
    connection: psycopg.Connection[Row]

    def run(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        cursor = self.connection.execute(sql.replace("?", "%s").encode(), tuple(parameters))
        return cursor.fetchall() if cursor.description else []


@dataclass(frozen=True, slots=True)
class PostgresStore:
    """Books in a schema of their own; `parameters` are libpq's, as items so that a store can be a key."""

    parameters: tuple[tuple[str, str], ...]
    lock_seconds: float = _LOCK_SECONDS

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._transaction(lock=False) as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._transaction(lock=True) as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, lock: bool) -> Iterator[Transaction]:
        try:
            parameters: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, **dict(self.parameters)}
            with psycopg.connect(**parameters, row_factory=dict_row) as connection:
                self._prepare(connection)
                if lock:
                    connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [SCHEMA])
                yield _PostgresTransaction(connection)
        except psycopg.OperationalError as error:
            raise PlatformUnreachableError(f"The simulated cloud's books cannot be used: {error}") from error

    def _prepare(self, connection: psycopg.Connection[Row]) -> None:
        """Make the schema on first use; two processes may come at once, so the lock is held while it is made."""
        connection.execute(
            "SELECT set_config('search_path', %s, false), set_config('lock_timeout', %s, false)",
            [SCHEMA, f"{self.lock_seconds * 1000:.0f}"],
        )
        if connection.execute(f"SELECT to_regclass('{SCHEMA}.rules') AS found".encode()).fetchone() == {"found": None}:
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [SCHEMA])
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}".encode())
            for statement in postgres_schema():
                connection.execute(statement.encode())
        connection.commit()
