"""Finds actions among millions: every list, export and count of actions asks here, on both databases.

Each question is answered from an index in the order of ids: exact filters from the indexes of their columns, words
from the full-text index; on SQLite also several filters together (see `scaling.audit.index`).
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Max

from scaling.audit.index import BY_PEOPLE, BY_PEOPLE_SQL, INDEX, NOT_ROUTINE, NOT_ROUTINE_SQL, TABLE, mark, normal
from scaling.audit.words import Phrase, phrases
from scaling.models import Action, ActorKind

# An action is dated when it is written; however long that takes and however clocks differ, not further off than this.
DATED_WITHIN = timedelta(hours=1)
# So many neighbours in time are asked for their ids, lest one that a wrong clock dated hides the others.
NEIGHBOURS = 50
# So many of the nearest ids PostgreSQL searches row by row before it asks the index of words.
NEAREST = 20_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which actions are meant; everything given must hold.

    `exact` are values by column (kind, outcome, actor, actor_kind, source, group, slice, job, target). `people`: True
    for acts of people and tokens only, False for those of Iris itself. `since` <= at < `until`.
    """

    exact: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    people: bool | None = None
    routine: bool = True
    cycle: int | None = None
    cause: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class PageOfIds:
    """Ids, newest first, and whether there are newer or older ones."""

    ids: list[int]
    newer: bool
    older: bool


def page(wanted: Wanted, size: int, after: int | None = None, before: int | None = None) -> PageOfIds:
    """One page: the newest, those older than id `after`, or those just newer than id `before` (0: the oldest page)."""
    if before is not None:
        found = ids(wanted, size + 1, above=before, oldest_first=True)
        return PageOfIds(found[:size][::-1], newer=len(found) > size, older=before > 0)
    found = ids(wanted, size + 1, below=after)
    return PageOfIds(found[:size], newer=after is not None, older=len(found) > size)


def rows(found: Collection[int], *, whole: bool = True) -> list[Action]:
    """The actions of these ids, newest first; without before and after unless `whole`. One query."""
    actions = Action.objects.all() if whole else Action.objects.defer("before", "after")
    return list(actions.filter(pk__in=found).order_by("-id")) if found else []


def among(wanted: Wanted, candidates: Collection[int]) -> list[int]:
    """Which of a few ids match, oldest first."""
    if not candidates:
        return []
    question = _Question(wanted)
    question.add(f"{question.id} IN ({', '.join(['%s'] * len(candidates))})", *candidates)
    return question.ask(len(candidates), oldest_first=True)


def ids(
    wanted: Wanted, limit: int, *, below: int | None = None, above: int | None = None, oldest_first: bool = False
) -> list[int]:
    """The ids of up to `limit` matching actions between two ids (both exclusive), newest first unless told."""
    bounds = _bounds(wanted, below, above)
    if bounds is None:
        return []
    if wanted.text and connection.vendor == "postgresql":
        return _in_two_steps(wanted, bounds, limit, oldest_first)
    return _Question(wanted).within(bounds).ask(limit, oldest_first)


def _in_two_steps(wanted: Wanted, bounds: "Bounds", limit: int, oldest_first: bool) -> list[int]:
    """PostgreSQL: first among the nearest rows, one by one; then by the index of words, all that match.

    Its planner takes words for independent: it would walk a million rows for two common ones that never meet, since
    the page ought to be full after a few hundred.
    """
    low, high = bounds
    if oldest_first:
        first = Action.objects.filter(id__gt=low).order_by("id").values_list("pk", flat=True).first()
        edge = (first or low) + NEAREST
        near, far = (low, min(edge, high or edge)), (edge - 1, high)
    else:
        last = (high - 1) if high is not None else (Action.objects.aggregate(last=Max("id"))["last"] or 0)
        edge = max(low, last - NEAREST)
        near, far = (edge, high), (low, edge + 1)
    found = _Question(wanted).within(near).ask(limit, oldest_first)
    if len(found) < limit and (far[1] is None or far[1] - 1 > far[0]):
        found += _Question(wanted).within(far).ask(limit - len(found), oldest_first, from_index=True)
    return found


def kinds(wanted: Wanted, newest: int) -> Counter[str]:
    """How many of each kind there are among the newest that match."""
    if wanted.text and connection.vendor == "postgresql":
        counted = Action.objects.filter(pk__in=ids(wanted, newest)).order_by().values_list("kind")
        return Counter(dict(counted.annotate(n=Count("pk"))))
    bounds = _bounds(wanted, None, None)
    return _Question(wanted).within(bounds).kinds(newest) if bounds is not None else Counter()


# (exclusive lower id, exclusive upper id or None)
Bounds = tuple[int, int | None]


def _bounds(wanted: Wanted, below: int | None, above: int | None) -> Bounds | None:
    """(exclusive lower id, exclusive upper id or None), narrowed by the times; None where nothing can match.

    Ids grow with time: an old span is begun at its ids instead of after millions of newer rows.
    """
    low, high = above or 0, below
    if wanted.since is not None:
        later = Action.objects.filter(at__gte=wanted.since - DATED_WITHIN).order_by("at", "id")
        firsts = list(later.values_list("pk", flat=True)[:NEIGHBOURS])
        if not firsts:
            return None
        low = max(low, min(firsts) - 1)
    if wanted.until is not None:
        earlier = Action.objects.filter(at__lt=wanted.until + DATED_WITHIN).order_by("-at", "-id")
        lasts = list(earlier.values_list("pk", flat=True)[:NEIGHBOURS])
        if not lasts:
            return None
        high = min(max(lasts) + 1, high or max(lasts) + 1)
    return low, high


class _Question:
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

    def within(self, bounds: "Bounds") -> "_Question":
        low, high = bounds
        if low:
            self.add(f"{self.id} > %s", low)
        if high is not None:
            self.add(f"{self.id} < %s", high)
        return self

    def ask(self, limit: int, oldest_first: bool, *, from_index: bool = False) -> list[int]:
        """`from_index`: find all that match before any is put in order, which an index of words does best."""
        order = "ASC" if oldest_first else "DESC"
        sql = self._sql(order)
        if from_index:
            inner = f"SELECT {self.id} FROM {self._tables} WHERE {' AND '.join(self._conditions)}"  # noqa: S608
            sql = f"WITH found AS MATERIALIZED ({inner}) SELECT id FROM found ORDER BY id {order} LIMIT %s"  # noqa: S608
        with connection.cursor() as cursor:
            cursor.execute(sql, [*self._values, limit])
            return [row[0] for row in cursor.fetchall()]

    def kinds(self, newest: int) -> Counter[str]:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT kind, count(*) FROM {TABLE} WHERE id IN ({self._sql('DESC')}) GROUP BY kind",  # noqa: S608
                [*self._values, newest],
            )
            return Counter(dict(cursor.fetchall()))

    def _sql(self, order: str) -> str:
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        return f"SELECT {self.id} FROM {self._tables}{where} ORDER BY {self.id} {order} LIMIT %s"  # noqa: S608

    def _is_combined(self) -> bool:
        """Whether more than one index would be needed."""
        wanted = self._wanted
        narrow = wanted.cycle is not None or wanted.cause is not None
        return not narrow and len(wanted.exact) + (wanted.people is not None) + (not wanted.routine) > 1

    def _from_index(self, found: list[Phrase]) -> None:
        """SQLite: words and marks in one look-up, in the order of ids; the table beside it only where it is needed."""
        self.id = f"{INDEX}.rowid"
        wanted = self._wanted
        beside = wanted.since or wanted.until or wanted.cycle is not None or wanted.cause is not None
        self._tables = f"{INDEX} CROSS JOIN {TABLE} ON {TABLE}.id = {INDEX}.rowid" if beside else INDEX
        marks = [mark(column, value) for column, value in wanted.exact.items()]
        marks += [NOT_ROUTINE] * (not wanted.routine)
        if wanted.people is not None:
            marks.append(BY_PEOPLE if wanted.people else mark("actor_kind", ActorKind.SYSTEM.value))
        self.add(f"{INDEX} MATCH %s", " AND ".join([*(f'"{word}"' for word in marks), *(one.fts5 for one in found)]))

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


def but(wanted: Wanted, column: str) -> Wanted:
    """The same without the filter of one column."""
    return replace(wanted, exact={name: value for name, value in wanted.exact.items() if name != column})
