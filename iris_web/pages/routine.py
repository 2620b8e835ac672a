"""Kinds of actions that tell of routine: lists leave them out until someone asks for them, and say how many.

Which kinds those are is `scaling.models.ROUTINE_KINDS`, for which the history has an index.
"""

from collections.abc import Mapping

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from iris_web.pages import words
from scaling.audit.index import NOT_ROUTINE_SQL
from scaling.models import Action

# kind -> how one of them is called, and several.
ROUTINE: dict[str, tuple[str, str]] = {
    "demand": ("routine demand update", "routine demand updates"),
    "deferred": ("deferral by a rate", "deferrals by a rate"),
}


def without(rows: QuerySet[Action]) -> QuerySet[Action]:
    return rows.filter(RawSQL(NOT_ROUTINE_SQL, (), BooleanField()))  # noqa: S611 - a constant


def told(counts: Mapping[str, int] | None) -> str:
    """`12 routine demand updates and 1 deferral by a rate`; "" where there are none, no number where it is unknown."""
    if counts is None:
        return " and ".join(many for _, many in ROUTINE.values())
    parts = [words.plural(counts[kind], *names) for kind, names in ROUTINE.items() if counts.get(kind)]
    return " and ".join(parts)
