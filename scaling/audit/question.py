"""One question to the history as SQL, for both databases: exact columns, words, times."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from scaling.audit.index import (
    BY_PEOPLE,
    BY_PEOPLE_SQL,
    INDEX,
    NOT_ROUTINE,
    NOT_ROUTINE_SQL,
    ROUTINE_SQL,
    TABLE,
    mark,
    normal,
)
from scaling.audit.words import Phrase, phrases
from scaling.models import ROUTINE_KINDS, ActorKind

# (exclusive lower id, exclusive upper id or None)
Bounds = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which actions are meant; everything given must hold.

    `exact` are values by column (kind, outcome, actor, actor_kind, source, group, slice, job, target), "" for none
    there. `people`: True for acts of people and tokens only, False for those of Iris itself. `since` <= at < `until`.
    """

    exact: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    people: bool | None = None
    routine: bool = True
    cycle: int | None = None
    cause: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def but(wanted: Wanted, column: str) -> Wanted:
    """The same without the filter of one column."""
    return replace(wanted, exact={name: value for name, value in wanted.exact.items() if name != column})


class Question:
    """One SELECT of ids: the tables it is from, and conditions with their values."""

    def __init__(self, wanted: Wanted) -> None:
        self._postgresql = connection.vendor == "postgresql"
        self._wanted = wanted
        self._conditions: list[str] = []
        self._values: list[Any] = []
        self.id = f"{TABLE}.id"
        self._tables = TABLE
        found = phrases(wanted.text)
        if wanted.text and not found:
            self.add("1 = 0")
        if self._postgresql:
            self._add_columns()
            self._add_words(found)
        elif found or self._is_combined():
            self._from_index(found)
        else:
            self._add_columns()
        self._add_rest()

    def add(self, condition: str, *values: Any) -> None:
        self._conditions.append(condition)
        self._values += values

    def within(self, bounds: Bounds) -> "Question":
        low, high = bounds
        if low:
            self.add(f"{self.id} > %s", low)
        if high is not None:
            self.add(f"{self.id} < %s", high)
        return self

    def ask(self, limit: int, oldest_first: bool) -> list[int]:
        order = "ASC" if oldest_first else "DESC"
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        sql = f"SELECT {self.id} FROM {self._tables}{where} ORDER BY {self.id} {order} LIMIT %s"  # noqa: S608
        with connection.cursor() as cursor:
            cursor.execute(sql, [*self._values, limit])
            return [row[0] for row in cursor.fetchall()]

    def estimated(self) -> int:
        """On PostgreSQL: how many its planner takes to match, from what it keeps of how often words are."""
        where = " AND ".join(self._conditions) or "TRUE"
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {self._tables} WHERE {where}", self._values)  # noqa: S608
            return int(cursor.fetchone()[0][0]["Plan"]["Plan Rows"])

    def ask_index(self, limit: int, oldest_first: bool) -> list[int]:
        """On PostgreSQL: find all that match before any is put in order, which an index of words does best.

        Its planner takes words for independent of kinds and of each other, and would rather read the whole table.
        """
        parts = self._parts()
        inner = " UNION ALL ".join(
            f"SELECT {self.id} FROM {self._tables} WHERE {' AND '.join([*self._conditions, part])}"  # noqa: S608
            for part in parts
        )
        order = "ASC" if oldest_first else "DESC"
        sql = f"WITH found AS MATERIALIZED ({inner}) SELECT id FROM found ORDER BY id {order} LIMIT %s"  # noqa: S608
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
            cursor.execute(sql, [*self._values * len(parts), limit])
            found = [row[0] for row in cursor.fetchall()]
            # A transaction around this one goes on with the settings as they were.
            cursor.execute("SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_indexscan TO DEFAULT")
        return found

    def _parts(self) -> list[str]:
        """The conditions of the partial indexes of words that have what is wanted."""
        kind = self._wanted.exact.get("kind")
        if kind is not None:
            return [ROUTINE_SQL if kind in ROUTINE_KINDS else NOT_ROUTINE_SQL]
        return [NOT_ROUTINE_SQL, *([ROUTINE_SQL] if self._wanted.routine else [])]

    def _is_combined(self) -> bool:
        """Whether more than one index would be needed."""
        wanted = self._wanted
        if wanted.cycle is not None or wanted.cause is not None:
            return False
        values = sum(map(bool, wanted.exact.values())) + (wanted.people is not None)
        if values and not all(wanted.exact.values()):
            return True
        timed = wanted.since is not None or wanted.until is not None
        return values + (not wanted.routine) + (timed and values > 0) > 1

    def _from_index(self, found: list[Phrase]) -> None:
        """SQLite: words and marks in one look-up, in the order of ids; the table beside it only where it is needed."""
        self.id = f"{INDEX}.rowid"
        wanted = self._wanted
        beside = wanted.since or wanted.until or wanted.cycle is not None or wanted.cause is not None
        empty = [column for column, value in wanted.exact.items() if not value]
        self._tables = f"{INDEX} CROSS JOIN {TABLE} ON {TABLE}.id = {INDEX}.rowid" if beside or empty else INDEX
        marks = [mark(column, value) for column, value in wanted.exact.items() if value]
        marks += [NOT_ROUTINE] * (not wanted.routine)
        if wanted.people is not None:
            marks.append(BY_PEOPLE if wanted.people else mark("actor_kind", ActorKind.SYSTEM.value))
        self.add(f"{INDEX} MATCH %s", " AND ".join([*(f'"{word}"' for word in marks), *(one.fts5 for one in found)]))
        for column in empty:
            self.add(f"{TABLE}.\"{column}\" = ''")

    def _add_columns(self) -> None:
        for column, value in self._wanted.exact.items():
            self.add(f'{TABLE}."{column}" = %s', value)
        if not self._wanted.routine:
            self.add(NOT_ROUTINE_SQL)
        if self._wanted.people is not None:
            self.add(BY_PEOPLE_SQL if self._wanted.people else "actor_kind = 'system'")

    def _add_words(self, found: list[Phrase]) -> None:
        for phrase in found:
            query = f"phraseto_tsquery('simple', {normal('%s')})"
            if phrase.beginning:
                query = f"(nullif({query}::text, '') || ':*')::tsquery"
            self.add(f"words @@ {query}", phrase.text)

    def _add_rest(self) -> None:
        wanted = self._wanted
        # A plus keeps SQLite from the index of times, whose order is not that of the list.
        at = "at" if self._postgresql else f"+{TABLE}.at"
        for column, comparison, value in (
            ("cycle", "=", wanted.cycle),
            ("cause_id", "=", wanted.cause),
            (at, ">=", wanted.since),
            (at, "<", wanted.until),
        ):
            if value is not None:
                self.add(f"{column} {comparison} %s", self._adapted(value))

    def _adapted(self, value: Any) -> Any:
        return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
