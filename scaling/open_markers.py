"""Failure memories that are open: which of them count, and as what, for pages, `/metrics`, API and shell alike."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Q

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


TABLE = Marker._meta.db_table
BRIEF = f"""
({TABLE}.kind = '{Marker.Kind.BACKOFF}' AND {TABLE}.failures <= {_BRIEF_FAILURES} AND NOT {TABLE}.needs_person)
"""
# Of every page, for the badge beside its name; `past` as `is_over`, `alone` as `unknown`.
_COUNTED = f"""
SELECT COUNT(*) FILTER (WHERE NOT past), COUNT(*) FILTER (WHERE NOT past AND alone AND NOT brief),
       COUNT(*) FILTER (WHERE past), COUNT(*) FILTER (WHERE NOT past AND kind = '{Marker.Kind.STOCKOUT}'),
       COUNT(*) FILTER (WHERE NOT past AND alone AND brief)
FROM (SELECT kind, {BRIEF} AS brief, until IS NOT NULL AND until <= %s AS past,
             acknowledged_at IS NULL OR acknowledged_until <= %s AS alone
      FROM {TABLE} WHERE closed_at IS NULL) AS marked
"""  # noqa: S608 - made of names of our own


@fact
def count_open() -> MarkerCounts:
    """What every page that counts markers shows: the badge, the overview, the page of stock-outs. One query."""
    now = connection.ops.adapt_datetimefield_value(clock.now())
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, [now, now])
        return MarkerCounts(*cursor.fetchone())
