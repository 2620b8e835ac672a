"""Writes many rows of a model with one prepared statement, run for each row.

Django's own bulk statements build an expression for every value: with thousands of rows that takes longer than all the
rest of a tick, and on SQLite one becomes dozens, each of at most 999 values.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Field, Model


def insert(rows: Sequence[Model]) -> None:
    """Insert new rows of one model; they are not told their keys."""
    if not rows:
        return
    meta = rows[0]._meta
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    names = ", ".join(_quoted(field.column) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {_quoted(meta.db_table)} ({names}) VALUES ({places})",  # noqa: S608 - names of our own
            [_values(row, fields) for row in rows],
        )


def upsert(model: type[Model], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows of the named fields' values; where the first, a unique one, is there already, write the others."""
    if not rows:
        return
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    unique, *others = [_quoted(field.column) for field in fields]
    changes = ", ".join(f"{column} = excluded.{column}" for column in others)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {_quoted(model._meta.db_table)} ({', '.join([unique, *others])}) "  # noqa: S608 - names of ours
            f"VALUES ({', '.join(['%s'] * len(fields))}) ON CONFLICT ({unique}) DO UPDATE SET {changes}",
            _prepared(fields, rows),
        )


def _prepared(fields: Sequence[Any], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """As Django itself would store them; what many rows have in common is converted once."""
    known: list[dict[Any, Any]] = [{} for _ in fields]
    return [[_once(field, memo, value) for field, memo, value in zip(fields, known, row, strict=True)] for row in rows]


def _once(field: Any, memo: dict[Any, Any], value: Any) -> Any:
    """Lists and the like are told apart by their identity: the caller shares those that are the same."""
    key = value if isinstance(value, str | int | datetime) else id(value)
    if key not in memo:
        memo[key] = field.get_db_prep_save(value, connection)
    return memo[key]


def update(rows: Sequence[Model], names: Sequence[str]) -> None:
    """Write the named fields of rows of one model."""
    if not rows:
        return
    meta = rows[0]._meta
    fields = [field for field in meta.concrete_fields if field.name in names]
    changes = ", ".join(f"{_quoted(field.column)} = %s" for field in fields)
    key = meta.pk
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {_quoted(meta.db_table)} SET {changes} WHERE {_quoted(key.column)} = %s",  # noqa: S608 - likewise
            [[*_values(row, fields), row.pk] for row in rows],
        )


def _values(row: Model, fields: "Sequence[Field[Any, Any]]") -> list[Any]:
    """As Django itself would store them."""
    return [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]


def _quoted(name: str | None) -> str:
    return connection.ops.quote_name(name or "")
