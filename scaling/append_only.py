"""Tables whose rows are only ever added: a guard in Python and triggers in the database (SQLite and PostgreSQL)."""

from typing import Any, NoReturn, TypeVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

M = TypeVar("M", bound=models.Model)


class AppendOnlyError(Exception):
    """Raised when code tries to change or remove a row of an append-only table."""


class AppendOnlyQuerySet(models.QuerySet[M]):
    """A query set that can add and read, nothing else."""

    def update(self, **_changes: Any) -> NoReturn:
        raise AppendOnlyError(f"{self.model.__name__} rows are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnlyError(f"{self.model.__name__} rows are never removed")


class AppendOnlyManager(models.Manager.from_queryset(AppendOnlyQuerySet)):  # type: ignore[misc]
    """The default manager of append-only models."""


def _statements(vendor: str, table: str) -> list[str]:
    refused = f"{table} is append-only: rows are never changed or removed"
    if vendor == "postgresql":
        return [
            f"CREATE OR REPLACE FUNCTION {table}_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{refused}'; END $$",
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_append_only()",
            f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_append_only()",
        ]
    return [
        f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{refused}'); END"
        for event in ("UPDATE", "DELETE")
    ]


def install_triggers(connection: BaseDatabaseWrapper, table: str) -> None:
    """Make the database refuse UPDATE, DELETE (and TRUNCATE on PostgreSQL) on `table`."""
    with connection.cursor() as cursor:
        for statement in _statements(connection.vendor, table):
            cursor.execute(statement)


def drop_triggers(connection: BaseDatabaseWrapper, table: str) -> None:
    """Take the guard off again: for reversing the migration and for tests that flush their database."""
    with connection.cursor() as cursor:
        for suffix in ("change", "truncate", "update", "delete"):
            on = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{suffix}{on}")
