"""Failure memories, as the overview, a group's page and the stock-outs page select, count and order them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import OrderBy, RawSQL
from django.db.models.fields import IntegerField

from scaling import clock
from scaling.autoscaler.markers import backoff_seconds
from scaling.models import Marker
from scaling.once import fact

OPEN = Q(closed_at__isnull=True)

# A back-off of less than this is brief. What fails on lasts longer.
BRIEF_SECONDS = 300.0
_BRIEF_FAILURES = max(count for count in range(1, 10) if backoff_seconds(count) < BRIEF_SECONDS)


def unknown(now: datetime) -> Q:
    """Nobody has acknowledged it, or the acknowledgement has run out."""
    return Q(acknowledged_at__isnull=True) | Q(acknowledged_until__lte=now)


class MarkerRow(NamedTuple):
    """An open marker: whether somebody has seen to it, whether it has run out, and whether it heals itself soon."""

    marker: Marker
    owned: bool
    over: bool
    brief: bool


def rows_of(markers: Iterable[Marker], now: datetime) -> list[MarkerRow]:
    return [MarkerRow(marker, is_owned(marker, now), is_over(marker, now), is_brief(marker)) for marker in markers]


def is_owned(marker: Marker, now: datetime) -> bool:
    until = marker.acknowledged_until
    return marker.acknowledged_at is not None and (until is None or now < until)


def is_over(marker: Marker, now: datetime) -> bool:
    return marker.until is not None and marker.until <= now


def is_brief(marker: Marker) -> bool:
    """It heals itself before anybody has looked, and asks nobody."""
    return marker.kind == Marker.Kind.BACKOFF and marker.failures <= _BRIEF_FAILURES and not marker.needs_person


@dataclass(frozen=True, slots=True)
class MarkerCounts:
    """Open markers in numbers. `in_force` block their groups; the `unowned` among them nobody has seen to.

    `over` have run out and wait for a probe. `stockouts` are those in force of that kind, `brief` those that nobody has
    seen to and nobody needs to.
    """

    in_force: int
    unowned: int
    over: int
    stockouts: int
    brief: int

    @property
    def total(self) -> int:
        return self.in_force + self.over


_TABLE = Marker._meta.db_table
_BRIEF = f"""
({_TABLE}.kind = '{Marker.Kind.BACKOFF}' AND {_TABLE}.failures <= {_BRIEF_FAILURES} AND NOT {_TABLE}.needs_person)
"""
# The lowest comes first. Written out: to put it together each time takes longer than to sort by it.
_RANK = f"""
CASE WHEN {_TABLE}.until <= %s THEN 4 ELSE 0 END
+ CASE WHEN ({_TABLE}.acknowledged_at IS NULL OR {_TABLE}.acknowledged_until <= %s) AND NOT {_BRIEF} THEN 0 ELSE 2 END
+ CASE WHEN {_TABLE}.needs_person THEN 0 ELSE 1 END
"""
# Of every page, for the badge beside its name; `past` as `is_over`, `alone` as `unknown`.
_COUNTED = f"""
SELECT COUNT(*) FILTER (WHERE NOT past), COUNT(*) FILTER (WHERE NOT past AND alone AND NOT brief),
       COUNT(*) FILTER (WHERE past), COUNT(*) FILTER (WHERE NOT past AND kind = '{Marker.Kind.STOCKOUT}'),
       COUNT(*) FILTER (WHERE NOT past AND alone AND brief)
FROM (SELECT kind, {_BRIEF} AS brief, until IS NOT NULL AND until <= %s AS past,
             acknowledged_at IS NULL OR acknowledged_until <= %s AS alone
      FROM {_TABLE} WHERE closed_at IS NULL) AS marked
"""  # noqa: S608 - made of names of our own


@fact
def count_open() -> MarkerCounts:
    """What every page that counts markers shows: the badge, the overview, the page of stock-outs. One query."""
    now = connection.ops.adapt_datetimefield_value(clock.now())
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, [now, now])
        return MarkerCounts(*cursor.fetchone())


def open_order(now: datetime) -> tuple[OrderBy | str, ...]:
    """What is over comes last; before it what nobody has seen to, then what needs a person, then the oldest."""
    moment = connection.ops.adapt_datetimefield_value(now)
    return RawSQL(_RANK, (moment, moment), IntegerField()).asc(), "since", "id"  # noqa: S611 - words of our own
