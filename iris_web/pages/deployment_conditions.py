"""What can be the case with a deployment, as conditions that the database counts and filters by.

What its latest tick left it doing is in columns of its scaler, judged by the tick (scaling.replicas.picture).
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import reduce
from operator import and_

from django.db.models import Count, Q, QuerySet

from iris_web.pages.names import words_in
from scaling.models import Deployment
from scaling.replicas.decision import Gate
from scaling.replicas.picture import Flag
from scaling.scalers import is_unassigned

CONDITIONS: Mapping[str, str] = {
    "over": "over target",
    "held": "held by a gate",
    "up": "scaling up",
    "down": "scaling down",
    "zero": "at zero",
    "paused": "paused",
    "unassigned": "no scaler",
    "not_listed": "not listed",
}
"""The list's filters by name; several can be the case at once."""


def there() -> QuerySet[Deployment]:
    """Every deployment that is not gone, in no order."""
    return Deployment.objects.filter(gone_at=None).order_by()


def having(text: str) -> Q:
    """Its id or its name has these words, in either case."""
    # The databases' own comparison without case knows no letters beyond ASCII on SQLite; their expressions do.
    patterns = map(re.escape, words_in(text))
    words = (Q(deployment_id__iregex=word) | Q(name__iregex=word) for word in patterns)
    return reduce(and_, words, Q())


def conditions(now: datetime) -> dict[str, Q]:
    """Each of CONDITIONS."""
    return {
        "over": _flagged(Flag.OVER),
        # A cooldown is the rest after a change that was made, not something that keeps it from one.
        "held": Q(scaler__gate__gt="") & ~Q(scaler__gate=Gate.COOLDOWN),
        "up": _flagged(Flag.UP),
        "down": _flagged(Flag.DOWN),
        "zero": _flagged(Flag.ZERO),
        "paused": is_pausing(now),
        "unassigned": is_unassigned(now),
        "not_listed": Q(absent_since__isnull=False),
    }


def _flagged(flag: Flag) -> Q:
    """Its latest tick found this to be the case; the column is the text of a JSON array."""
    return Q(scaler__flags__contains=f'"{flag}"')


def counts(rows: QuerySet[Deployment], asked: Mapping[str, Q]) -> dict[str, int]:
    """How many of `rows` there are ("all"), and of how many each condition is the case. One query."""
    found: dict[str, int] = rows.aggregate(
        all=Count("pk"), **{code: Count("pk", filter=condition) for code, condition in asked.items()}
    )
    return found


def is_pausing(now: datetime) -> Q:
    """An operator's pause of any direction is in force."""
    return Q(pause_direction__gt="") & (Q(pause_until=None) | Q(pause_until__gt=now))
