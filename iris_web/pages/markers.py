"""Failure memories, as the overview, a group's page and the stock-outs page select and order them."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models.expressions import OrderBy, RawSQL
from django.db.models.fields import IntegerField

from scaling.models import Marker
from scaling.open_markers import BRIEF, TABLE, is_brief, is_over, is_owned


class MarkerRow(NamedTuple):
    """An open marker: whether somebody has seen to it, whether it has run out, and whether it heals itself soon."""

    marker: Marker
    owned: bool
    over: bool
    brief: bool


def rows_of(markers: Iterable[Marker], now: datetime) -> list[MarkerRow]:
    return [MarkerRow(marker, is_owned(marker, now), is_over(marker, now), is_brief(marker)) for marker in markers]


# The lowest comes first. Written out: to put it together each time takes longer than to sort by it.
_RANK = f"""
CASE WHEN {TABLE}.until <= %s THEN 4 ELSE 0 END
+ CASE WHEN ({TABLE}.acknowledged_at IS NULL OR {TABLE}.acknowledged_until <= %s) AND NOT {BRIEF} THEN 0 ELSE 2 END
+ CASE WHEN {TABLE}.needs_person THEN 0 ELSE 1 END
"""


def open_order(now: datetime) -> tuple[OrderBy | str, ...]:
    """What is over comes last; before it what nobody has seen to, then what needs a person, then the oldest."""
    moment = connection.ops.adapt_datetimefield_value(now)
    return RawSQL(_RANK, (moment, moment), IntegerField()).asc(), "since", "id"  # noqa: S611 - words of our own
