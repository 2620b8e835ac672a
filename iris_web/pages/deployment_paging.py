"""The list of deployments by key: a cursor names the place behind a row in the order of the list, so that a row which
comes, goes or moves meanwhile neither hides another nor shows it twice.
"""

import base64
import binascii
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iris_web.pages.deployment_briefs import Brief
from iris_web.pages.deployment_states import DEPLOYMENT, code_of
from iris_web.pages.groups import natural

Place = tuple[Any, ...]
_CODE_ORDER = {code: number for number, code in enumerate(DEPLOYMENT)}


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the order of the list, and the cursors of the pages around them ("" = none)."""

    rows: list[Brief]
    after: str
    before: str


_ORDERS: dict[str, Callable[[Brief], Any]] = {
    "name": lambda brief: natural(brief.deployment_id),
    "state": lambda brief: _CODE_ORDER.get(code_of(brief), len(_CODE_ORDER)),
    "latency": lambda brief: brief.latency_ratio,
    "rps": lambda brief: brief.rps_ratio,
    "replicas": lambda brief: brief.coming,
    "desired": lambda brief: brief.desired,
}


def page_of(found: Sequence[Brief], sort: str, size: int, after: str = "", before: str = "") -> Page:
    """The page behind one cursor, or before the other; an unreadable one is the first page."""
    value, descending = _ORDERS[sort.lstrip("-")], sort.startswith("-")

    def place(brief: Brief) -> Place:
        """Where a row stands: what is unknown last in either direction, then the value, then the id."""
        known = value(brief)
        if known is None:
            return (-1 if descending else 1, 0, brief.deployment_id)
        return (0, known, brief.deployment_id)

    placed = sorted((place(brief), brief.pk, brief) for brief in found)
    if descending:
        placed.reverse()
    places = [where for where, _, _ in placed]
    start = _start(places, descending, size, _decode(after), _decode(before))
    end = min(start + size, len(placed))
    return Page(
        [brief for _, _, brief in placed[start:end]],
        _encode(places[end - 1]) if end < len(placed) else "",
        _encode(places[start]) if start else "",
    )


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


def _decode(cursor: str) -> Place | None:
    """The place that a cursor names; None for none and for what cannot be one."""
    if not cursor:
        return None
    try:
        unknown, value, name = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return (unknown, natural(name) if value is None else value, name)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None
