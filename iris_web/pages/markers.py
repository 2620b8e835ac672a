"""Failure memories, as the overview, a group's page and the stock-outs page select and order them."""

from datetime import datetime

from django.db.models import Case, Q, Value, When
from django.db.models.expressions import OrderBy
from django.db.models.fields import IntegerField

from scaling.models import Marker

OPEN = Q(closed_at__isnull=True)


def unowned(now: datetime) -> Q:
    """Nobody has acknowledged it, or the acknowledgement has run out."""
    return Q(acknowledged_at__isnull=True) | Q(acknowledged_until__lte=now)


def is_owned(marker: Marker, now: datetime) -> bool:
    until = marker.acknowledged_until
    return marker.acknowledged_at is not None and (until is None or now < until)


def open_order(now: datetime) -> tuple[OrderBy | str, ...]:
    """What nobody has seen to comes first, then what needs a person, then the oldest."""
    rank = Case(When(unowned(now), then=Value(0)), default=Value(1), output_field=IntegerField())
    person = Case(When(needs_person=True, then=Value(0)), default=Value(1), output_field=IntegerField())
    return rank.asc(), person.asc(), "since", "id"
