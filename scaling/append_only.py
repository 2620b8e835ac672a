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


# The append-only tables, and for each the condition under which the guard lets a row go ("" = never).
ARCHIVED = "EXISTS (SELECT 1 FROM scaling_archivepass WHERE through_id >= OLD.id)"
GUARDED: dict[str, str] = {"scaling_action": ARCHIVED, "scaling_seal": ""}
# The primary key of each where it is not `id`.
_KEYS = {"scaling_seal": "number"}


def _statements(vendor: str, table: str, unless: str) -> list[str]:
    refused = f"{table} is append-only: rows are never changed or removed"
    if vendor == "postgresql":
        # A transition variable may only be read where there is a row: not for TRUNCATE.
        let_go = f"IF TG_OP = 'DELETE' THEN IF {unless} THEN RETURN OLD; END IF; END IF;" if unless else ""
        return [
            f"CREATE OR REPLACE FUNCTION {table}_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {let_go} RAISE EXCEPTION '{refused}'; END $$",
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_append_only()",
            f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_append_only()",
        ]
    # REPLACE removes the row that is in its way without any trigger for deletes. That row is found by its rowid or its
    # key, which are two things where the key is not SQLite's own integer one.
    key = _KEYS.get(table, "id")
    same = " OR ".join(f"{column} = NEW.{column}" for column in dict.fromkeys(("rowid", key)))
    when = {
        "UPDATE": "",
        "DELETE": f"WHEN NOT {unless} " if unless else "",
        "INSERT": f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) ",  # noqa: S608 - names of our own
    }
    return [
        f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} {condition}"
        f"BEGIN SELECT RAISE(ABORT, '{refused}'); END"
        for event, condition in when.items()
    ]


def install_triggers(connection: BaseDatabaseWrapper, table: str, unless: str = "") -> None:
    """Make the database refuse UPDATE, DELETE (TRUNCATE on PostgreSQL, REPLACE on SQLite) on `table`.

    `unless` is a condition on `OLD` under which a row may be removed all the same.
    """
    with connection.cursor() as cursor:
        for statement in _statements(connection.vendor, table, unless):
            cursor.execute(statement)


def drop_triggers(connection: BaseDatabaseWrapper, table: str) -> None:
    """Take the guard off again: for reversing the migration and for tests that flush their database."""
    with connection.cursor() as cursor:
        for suffix in ("change", "truncate", "update", "delete", "insert"):
            on = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{suffix}{on}")


def guard(connection: BaseDatabaseWrapper) -> None:
    """Guard every append-only table."""
    for table, unless in GUARDED.items():
        install_triggers(connection, table, unless)


def unguard(connection: BaseDatabaseWrapper) -> None:
    """Take every guard off, where there is one."""
    for table in GUARDED:
        drop_triggers(connection, table)
