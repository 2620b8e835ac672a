"""The list of deployments by key: a cursor names the place behind a row in the order of the list, so that a row which
comes, goes or moves meanwhile neither hides another nor shows it twice.
"""

import base64
import binascii
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, Expression, F, Field, FloatField, IntegerField, Q, QuerySet, TextField, Value, When

from iris_web.pages.deployment_conditions import is_pausing
from iris_web.pages.deployment_states import DEPLOYMENT, code_of
from iris_web.pages.groups import natural
from scaling.autoscaler.collector import CollectorAtRest
from scaling.models import Deployment
from scaling.models.json_members import Member
from scaling.scalers import is_assigned

Place = tuple[Any, ...]
_CODE_ORDER = {code: number for number, code in enumerate(DEPLOYMENT)}


@dataclass(frozen=True, slots=True)
class Page:
    """The keys of a page's rows in the order of the list, and the cursors of the pages around it ("" = none)."""

    keys: list[int]
    after: str
    before: str


class _Holding(NamedTuple):
    """What the state of a deployment is told by; flags are 1 or 0."""

    listed: bool
    assigned: bool
    pause: str
    zero_by: str
    state: str | None


@dataclass(frozen=True, slots=True)
class _Order:
    """The columns that an order asks for, and the value that it makes of them; None is unknown."""

    columns: Callable[[datetime], Mapping[str, Expression | F]]
    value: Callable[..., Any]


def _by_latest(name: str, kind: "Field[Any, Any]") -> _Order:
    """By a number of the latest tick's picture."""
    return _Order(lambda _now: {"value": Member("scaler__latest", name, kind)}, lambda value: value)


_ORDERS: dict[str, _Order] = {
    "name": _Order(lambda _now: {}, lambda: None),
    "state": _Order(lambda now: _holding(now), lambda *told: _CODE_ORDER.get(code_of(_Holding(*told)))),
    "latency": _by_latest("latency_ratio", FloatField()),
    "rps": _by_latest("rps_ratio", FloatField()),
    "replicas": _by_latest("coming", IntegerField()),
    "desired": _by_latest("desired", IntegerField()),
}


def _holding(now: datetime) -> dict[str, Expression | F]:
    return {
        "listed": _flag(Q(absent_since=None)),
        "assigned": _flag(is_assigned(now)),
        "pausing": Case(When(is_pausing(now), then=F("pause_direction")), default=Value(""), output_field=TextField()),
        "held_by": F("scaler__zero_by"),
        "told": F("scaler__state"),
    }


def _flag(condition: Q) -> Case:
    """1 or 0: a number needs no conversion, row by row."""
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())


def page_of(rows: QuerySet[Deployment], now: datetime, sort: str, size: int, after: str = "", before: str = "") -> Page:
    """The page of `rows` behind one cursor, or before the other; an unreadable one is the first page. One query."""
    descending = sort.startswith("-")
    placed = sorted(_placed(rows, now, sort.lstrip("-"), descending), reverse=descending)
    places = [place for place, _ in placed]
    start = _start(places, descending, size, _decode(after), _decode(before))
    end = min(start + size, len(placed))
    return Page(
        [pk for _, pk in placed[start:end]],
        _encode(places[end - 1]) if end < len(placed) else "",
        _encode(places[start]) if start else "",
    )


def _placed(rows: QuerySet[Deployment], now: datetime, key: str, descending: bool) -> list[tuple[Place, int]]:
    """Where each row stands: what is unknown last in either direction, then the value, then the name."""
    order, last = _ORDERS[key], -1 if descending else 1
    columns = order.columns(now)
    asked = rows.annotate(**columns).values_list("pk", "deployment_id", *columns)
    with CollectorAtRest(), connection.cursor() as cursor:
        # Numbers and texts need none of the ORM's conversions, of thousands of rows.
        cursor.execute(*asked.query.sql_with_params())
        found = cursor.fetchall()
        if not columns:
            return [((0, natural(name), name), pk) for pk, name in found]
        valued = [(order.value(*told), name, pk) for pk, name, *told in found]
        return [((last, 0, name) if value is None else (0, value, name), pk) for value, name, pk in valued]


def _start(places: list[Place], descending: bool, size: int, after: Place | None, before: Place | None) -> int:
    """The index of the first row of the page."""
    try:
        if after is not None:
            return _behind(places, after, descending)
        if before is not None:
            return max(0, _at(places, before, descending) - size)
    except TypeError:  # a cursor of another order
        return 0
    return 0


def _behind(places: list[Place], place: Place, descending: bool) -> int:
    return len(places) - bisect_left(places[::-1], place) if descending else bisect_right(places, place)


def _at(places: list[Place], place: Place, descending: bool) -> int:
    return len(places) - bisect_right(places[::-1], place) if descending else bisect_left(places, place)


def _encode(place: Place) -> str:
    """A place as a text for an address. The natural order of a name is left out: the name tells it."""
    unknown, value, name = place
    plain = [unknown, None if isinstance(value, tuple) else value, name]
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def is_place(cursor: str) -> bool:
    """Whether a list of deployments may have given this cursor out."""
    return _decode(cursor) is not None


def _decode(cursor: str) -> Place | None:
    """The place that a cursor names; None for none and for what cannot be one."""
    if not cursor:
        return None
    try:
        unknown, value, name = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return (unknown, natural(name) if value is None else value, name)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None
