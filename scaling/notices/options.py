"""How notices are kept, as the settings say it."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from scaling.notices.news import Rules

# The deadline of one attempt, and how long its process may take altogether before it counts as dead.
ATTEMPT_SECONDS = 10.0
ATTEMPT_LOST = timedelta(seconds=60)
# So many messages within this time are told one by one; what comes beyond waits and is told together.
SHORTLY = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Options:
    """`waiting`: how long demand may go unsatisfied. `one_by_one`: more than so many notices at once are grouped."""

    waiting: timedelta
    rules: Rules
    one_by_one: int
    attempts: int
    site: str


def read() -> Options:
    again_minutes = settings.IRIS_NOTICE_AGAIN_MINUTES
    return Options(
        waiting=timedelta(minutes=settings.IRIS_NOTICE_DEMAND_MINUTES),
        rules=Rules(
            settle=timedelta(seconds=settings.IRIS_NOTICE_SETTLE_SECONDS),
            again=timedelta(minutes=again_minutes) if again_minutes else None,
        ),
        one_by_one=settings.IRIS_NOTICE_GROUP_OVER,
        attempts=settings.IRIS_NOTICE_ATTEMPTS,
        site=settings.IRIS_SITE_URL,
    )
