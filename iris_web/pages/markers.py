"""Failure memories, as the overview, a group's page and the stock-outs page select, count and order them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, Count, Q, Value, When
from django.db.models.expressions import OrderBy
from django.db.models.fields import IntegerField

from scaling.models import Marker

OPEN = Q(closed_at__isnull=True)


def unowned(now: datetime) -> Q:
    """Nobody has acknowledged it, or the acknowledgement has run out."""
    return Q(acknowledged_at__isnull=True) | Q(acknowledged_until__lte=now)


def over(now: datetime) -> Q:
    """It has run out and blocks nothing more; it stays open until the group's next slice, a probe, is READY."""
    return Q(until__isnull=False, until__lte=now)


class MarkerRow(NamedTuple):
    """An open marker, whether somebody has seen to it, and whether it has run out."""

    marker: Marker
    owned: bool
    over: bool


def rows_of(markers: Iterable[Marker], now: datetime) -> list[MarkerRow]:
    return [MarkerRow(marker, is_owned(marker, now), is_over(marker, now)) for marker in markers]


def is_owned(marker: Marker, now: datetime) -> bool:
    until = marker.acknowledged_until
    return marker.acknowledged_at is not None and (until is None or now < until)


def is_over(marker: Marker, now: datetime) -> bool:
    return marker.until is not None and marker.until <= now


@dataclass(frozen=True, slots=True)
class MarkerCounts:
    """Open markers in numbers. `in_force` block their groups; the `unowned` among them nobody has seen to.

    `over` have run out and wait for a probe. `stockouts` are those in force of that kind.
    """

    in_force: int
    unowned: int
    over: int
    stockouts: int


def count_open(now: datetime) -> MarkerCounts:
    """What every page that counts markers shows: the badge, the overview, the page of stock-outs. One query."""
    in_force = ~over(now)
    return MarkerCounts(
        **Marker.objects.filter(OPEN).aggregate(
            in_force=Count("pk", filter=in_force),
            unowned=Count("pk", filter=in_force & unowned(now)),
            over=Count("pk", filter=over(now)),
            stockouts=Count("pk", filter=in_force & Q(kind=Marker.Kind.STOCKOUT)),
        )
    )


def open_order(now: datetime) -> tuple[OrderBy | str, ...]:
    """What is over comes last; before it what nobody has seen to, then what needs a person, then the oldest."""
    past = Case(When(over(now), then=Value(1)), default=Value(0), output_field=IntegerField())
    rank = Case(When(unowned(now), then=Value(0)), default=Value(1), output_field=IntegerField())
    person = Case(When(needs_person=True, then=Value(0)), default=Value(1), output_field=IntegerField())
    return past.asc(), rank.asc(), person.asc(), "since", "id"
