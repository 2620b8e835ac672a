"""When a failed delivery is tried again, and when it is given up. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST_PAUSE = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(minutes=15)
# A receiver that asks for a longer rest gets it, up to this.
LONGEST_ASKED = timedelta(hours=1)
# A receiver that refuses the message itself will hardly take it later.
REFUSED_ATTEMPTS = 3
_WORTH_WAITING = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered. `status`: an HTTP status where it gave one; `retry_after` seconds where it asked."""

    ok: bool
    error: str = ""
    status: int | None = None
    retry_after: float | None = None


def next_attempt(attempts: int, answer: Answer, now: datetime, most: int) -> datetime | None:
    """When the delivery that failed `attempts` times is due again; None = given up."""
    refused = answer.status is not None and 400 <= answer.status < 500 and answer.status not in _WORTH_WAITING
    if attempts >= (min(most, REFUSED_ATTEMPTS) if refused else most):
        return None
    pause = min(FIRST_PAUSE * 2.0 ** min(attempts - 1, 16), LONGEST_PAUSE)
    asked = timedelta(seconds=min(max(answer.retry_after or 0.0, 0.0), LONGEST_ASKED.total_seconds()))
    return now + max(pause, asked)
