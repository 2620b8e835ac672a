"""Looking things up by parts of their names: one reading of what was typed, for the search and for the lists."""

from django.db.models import Q


def holding(text: str, *columns: str) -> Q:
    """Rows that have every word of the text, in either case and any order, each in one of these columns."""
    asked = Q()
    for word in text.split():
        one = Q()
        for column in columns:
            one |= Q(**{f"{column}__icontains": word})
        asked &= one
    return asked
