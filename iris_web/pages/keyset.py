"""Pages of long lists by key, not by number: the millionth row costs what the first does, and none is met twice."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Key:
    """One column of the order; the last key of a list is unique."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    """Rows in the order of the list. `after` and `before` are cursors of the next and previous page, "" = none."""

    rows: list[M]
    after: str = ""
    before: str = ""


def read_page(rows: QuerySet[M], keys: Sequence[Key], size: int, after: str = "", before: str = "") -> Page[M]:
    """The page that begins after a cursor, or ends before one. One query; an unreadable cursor is the first page."""
    place = _decode(rows.model, keys, after or before)
    backwards = bool(before) and place is not None
    ordered = rows.order_by(*(_order(key, backwards) for key in keys))
    if place is not None:
        ordered = ordered.filter(_beyond(keys, place, backwards))
    found = list(ordered[: size + 1])
    more, shown = len(found) > size, found[:size]
    if backwards:
        shown.reverse()
    has_next, has_previous = (True, more) if backwards else (more, place is not None)
    return Page(
        shown,
        _encode(keys, shown[-1]) if shown and has_next else "",
        _encode(keys, shown[0]) if shown and has_previous else "",
    )


def reads(model: type[Model], keys: Sequence[Key]) -> Callable[[str], bool]:
    """What tells the cursors of a list from other texts."""
    return lambda cursor: _decode(model, keys, cursor) is not None


def _order(key: Key, backwards: bool) -> str:
    return f"{'-' if key.descending != backwards else ''}{key.column}"


def _beyond(keys: Sequence[Key], place: Mapping[str, Any], backwards: bool) -> Q:
    """Rows behind a place in a mixed order: smaller in the first key, or equal there and smaller in the next ..."""
    ways = []
    for index, key in enumerate(keys):
        comparison = "lt" if key.descending != backwards else "gt"
        equal = {earlier.column: place[earlier.column] for earlier in keys[:index]}
        ways.append(Q(**equal) & Q(**{f"{key.column}__{comparison}": place[key.column]}))
    first = keys[0]
    bound = "lte" if first.descending != backwards else "gte"
    # The first key's bound repeats what the ways say, so that a database can start in the index.
    return Q(**{f"{first.column}__{bound}": place[first.column]}) & reduce(or_, ways)


def _encode(keys: Sequence[Key], row: Model) -> str:
    values = [getattr(row, key.column) for key in keys]
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def _decode(model: type[Model], keys: Sequence[Key], cursor: str) -> dict[str, Any] | None:
    if not cursor:
        return None
    try:
        plain = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        place = {key.column: _field(model, key.column).to_python(value) for key, value in zip(keys, plain, strict=True)}
    except (ValueError, TypeError, binascii.Error, ValidationError, OverflowError):
        return None
    return None if None in place.values() else place


def _field(model: type[Model], column: str) -> "Field[Any, Any]":
    found = model._meta.get_field(column)
    if not isinstance(found, Field):
        raise TypeError(f"{column} is not a column of {model.__name__}")
    return found
