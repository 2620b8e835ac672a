"""The life of one round of a loop: claimed by a ticker, begun and finished by a worker, or given up.

Each step is one conditional UPDATE on the Loop row, so of several tickers or workers exactly one makes it. A round is
under way while `running_since` is set; it has begun once `last_started_at` is not before that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import Greatest

from scaling.loops.registry import LoopSpec
from scaling.models import Loop

_BEGUN = Q(last_started_at__gte=F("running_since"))
_NOT_BEGUN = Q(last_started_at__isnull=True) | Q(last_started_at__lt=F("running_since"))

LOST = "the worker that ran this round died or hung"


@dataclass(frozen=True, slots=True)
class Begun:
    """A round that this worker may run; `failing` tells whether the round before ended in an error."""

    name: str
    number: int
    failing: bool


def has_begun(loop: Loop) -> bool:
    """Whether a worker has begun the round that is under way."""
    return bool(loop.running_since and loop.last_started_at and loop.last_started_at >= loop.running_since)


def is_lost(loop: Loop, spec: LoopSpec, now: datetime) -> bool:
    """Whether the round under way began so long ago that its worker must have died."""
    if not has_begun(loop) or loop.last_started_at is None:
        return False
    return loop.last_started_at <= now - timedelta(seconds=spec.lost_after_seconds)


def period_of(loop: Loop, spec: LoopSpec) -> float:
    """The period in seconds that holds for the loop: its row's where that may be set, else the registry's."""
    return loop.period_seconds if spec.adjustable else spec.period_seconds


def next_deadline(due: datetime, period_seconds: float, now: datetime) -> datetime:
    """The first of `due` + n periods after `now`: missed rounds are dropped, and lateness never adds up."""
    missed = max(0.0, (now - due).total_seconds()) / period_seconds
    deadline = due + timedelta(seconds=period_seconds * (math.floor(missed) + 1))
    return deadline if deadline > now else deadline + timedelta(seconds=period_seconds)


def claim(seen: Loop, spec: LoopSpec, now: datetime, then: Callable[[int], None]) -> int | None:
    """Claim the round that is due and call `then(number)` in the same transaction; None when another ticker won.

    `seen` is the row as read, with no round under way or a lost one.
    """
    number = seen.round + 1
    lost = {"last_error": LOST} if seen.running_since else {}
    with transaction.atomic():
        claimed = _unchanged(seen).update(
            round=number,
            running_since=now,
            period_seconds=period_of(seen, spec),
            next_due_at=next_deadline(seen.next_due_at, period_of(seen, spec), now),
            **lost,
        )
        if claimed:
            then(number)
    return number if claimed else None


def skip(seen: Loop, spec: LoopSpec, now: datetime) -> bool:
    """Let the deadline pass, counted, since the round before is still under way; False when another ticker did."""
    deadline = next_deadline(seen.next_due_at, period_of(seen, spec), now)
    return _unchanged(seen).update(skipped=F("skipped") + 1, next_due_at=deadline) == 1


def _unchanged(seen: Loop) -> QuerySet[Loop]:
    return Loop.objects.filter(
        pk=seen.pk, round=seen.round, next_due_at=seen.next_due_at, running_since=seen.running_since
    )


def begin(name: str, number: int, due: datetime, now: datetime) -> Begun | None:
    """Begin a round that was claimed; None when it has begun elsewhere, is done, or was given up."""
    lateness_ms = max(0.0, (now - due).total_seconds() * 1000)
    started = Greatest(Value(now, DateTimeField()), F("running_since"))
    with transaction.atomic():
        if (
            not _under_way(name, number)
            .filter(_NOT_BEGUN)
            .update(last_started_at=started, last_lateness_ms=lateness_ms)
        ):
            return None
        error = Loop.objects.values_list("last_error", flat=True).get(name=name)
    return Begun(name, number, failing=bool(error))


def finish(round_: Begun, now: datetime, error: str = "") -> bool:
    """End a round with its error text ("" = none); False when it was given up before."""
    mine = _under_way(round_.name, round_.number).filter(_BEGUN)
    return mine.update(running_since=None, last_finished_at=now, last_error=error) == 1


def give_up(name: str, number: int) -> bool:
    """End a round whose worker is known to be dead, so that the next one need not wait until it counts as lost."""
    return _under_way(name, number).filter(_BEGUN).update(running_since=None, last_error=LOST) == 1


def _under_way(name: str, number: int) -> QuerySet[Loop]:
    return Loop.objects.filter(name=name, round=number, running_since__isnull=False)
