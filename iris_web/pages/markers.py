"""Open failure memories, as the overview, a group's page and the stock-outs page show them."""

from django.db.models import F
from django.db.models.expressions import Case, Value, When
from django.db.models.fields import IntegerField

# What nobody has seen to comes first, then what needs a person, then the oldest.
OPEN_ORDER = (
    F("acknowledged_at").asc(nulls_first=True),
    Case(When(needs_person=True, then=Value(0)), default=Value(1), output_field=IntegerField()),
    "since",
)
