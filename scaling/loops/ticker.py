"""The ticker: hands each loop's round to the queue when it is due. Any number of tickers may run beside each other."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import close_old_connections

from scaling import clock, feed
from scaling.loops import instances, queue, rounds, tasks
from scaling.loops.registry import LOOPS, LoopSpec, loop_of
from scaling.models import Installation, Loop
from scaling.stopping import StopRequest

logger = logging.getLogger(__name__)

LONGEST_SLEEP_SECONDS = 0.25
SYNC_SECONDS = 10.0
# A claimed round that no worker has begun for this long is queued again, unless its task still waits in the queue:
# it was lost with a worker that had fetched it. Whichever of the two tasks comes first runs the round.
REQUEUE_SECONDS = 3.0
# Skipped rounds are worth telling once the round before has taken this long; at every start the first ones wait for
# the worker to come up.
SLOW_SECONDS = 5.0
# A deadline further ahead than a period and this was made by a clock that has been set back since.
CLOCK_TOLERANCE_SECONDS = 5.0
# A shared loop that this ticker does not run and whose deadlines nobody took for so long is nobody's.
ABANDONED = timedelta(hours=1)


def sync_rows(now: datetime, instance: str) -> list[str]:
    """Make the rows of the loops that this installation runs, drop those it no longer does; returns the rows to tick.

    Loops that each instance has for itself get this one's rows; those of an instance that is long silent go. What this
    configuration does not run stays while another instance lives whose does (during an update, or where one machine
    alone reaches the Gateway): its own rows, and shared ones that some ticker kept up to within the hour.
    """
    demonstration = Installation.objects.filter(demonstration=True).exists()
    wanted = [spec for spec in LOOPS.values() if spec.when and (demonstration or not spec.only_in_demonstration)]
    rows = {spec.row_name(instance): spec for spec in wanted}
    due = dict(Loop.objects.values_list("name", "next_due_at"))
    known = due.keys()
    new = [
        Loop(name=name, period_seconds=spec.period_seconds, next_due_at=now)
        for name, spec in rows.items()
        if name not in known
    ]
    if new:
        Loop.objects.bulk_create(new, ignore_conflicts=True)
    living = instances.living(now) - {instance}
    over = [name for name in known - rows.keys() if _is_over(name, wanted, living, now - due[name])]
    if over:
        Loop.objects.filter(name__in=over).delete()
    return list(rows)


def _is_over(row_name: str, wanted: list[LoopSpec], others: set[str], overdue: timedelta) -> bool:
    """Whether a row is of a loop that is not run (any more), or of an instance that is gone; `others` live."""
    try:
        spec, instance = loop_of(row_name)
    except KeyError:
        return False
    if spec.per_instance:
        return instance not in others
    is_anothers = not spec.when and bool(others) and overdue < ABANDONED
    return spec not in wanted and not is_anothers


class Ticker:
    """Claims what is due. Keeps nothing but what it has already said or queued again."""

    def __init__(self, instance: str = "") -> None:
        self._instance = instance or settings.IRIS_INSTANCE
        self._rows: list[str] = []
        self._synced_at: datetime | None = None
        self._skipping: set[str] = set()
        self._queued_again: dict[str, datetime] = {}
        self._trouble = ""

    def run(self, stop: StopRequest) -> None:
        """Tick until `stop` is set. A database that does not answer is said once and asked again each second."""
        while not stop.is_set():
            try:
                deadline = self.tick(clock.now())
                self._say_trouble("")
                pause = (deadline - clock.now()).total_seconds()
            except Exception as error:
                self._say_trouble(f"{type(error).__name__}: {error}")
                close_old_connections()
                pause = 1.0
            else:
                pause = min(max(pause, 0.0), LONGEST_SLEEP_SECONDS)
            stop.wait(pause)

    def tick(self, now: datetime) -> datetime:
        """Queue every round that is due and return the next deadline."""
        if self._synced_at is None or not timedelta(0) <= now - self._synced_at < timedelta(seconds=SYNC_SECONDS):
            instances.announce(self._instance, now)
            self._rows = sync_rows(now, self._instance)
            self._synced_at = now
        loops = Loop.objects.filter(name__in=self._rows)
        deadlines = [self._look_at(loop, loop_of(loop.name)[0], now) for loop in loops]
        return min(deadlines, default=now + timedelta(seconds=1))

    def _look_at(self, loop: Loop, spec: LoopSpec, now: datetime) -> datetime:
        if not _is_due(loop, spec, now):
            self._queue_again(loop, now)
            return loop.next_due_at
        if loop.next_due_at > now:
            loop = _set_back(loop, now)
        if loop.running_since and not rounds.is_lost(loop, spec, now):
            self._skip(loop, spec, now)
            self._queue_again(loop, now)
        else:
            self._claim(loop, spec, now)
        return rounds.next_deadline(loop.next_due_at, rounds.period_of(loop, spec), now)

    def _claim(self, loop: Loop, spec: LoopSpec, now: datetime) -> None:
        due = loop.next_due_at.timestamp()
        number = rounds.claim(loop, spec, now, lambda number: queue.enqueue(tasks.run_loop, loop.name, number, due))
        if number is None:
            return
        self._queued_again.pop(loop.name, None)
        if loop.running_since:
            logger.warning("round was lost with its worker", extra={"loop": loop.name, "round": loop.round})
            feed.publish("loops", "state", {"loop": loop.name, "state": "failing", "error": rounds.LOST})
        if loop.name in self._skipping:
            self._skipping.discard(loop.name)
            logger.info("loop keeps its period again", extra={"loop": loop.name})

    def _skip(self, loop: Loop, spec: LoopSpec, now: datetime) -> None:
        if not rounds.skip(loop, spec, now) or loop.name in self._skipping or not _is_slow(loop, now):
            return
        self._skipping.add(loop.name)
        logger.warning("loop skips rounds: the one before is not done", extra={"loop": loop.name, "round": loop.round})
        feed.publish("loops", "state", {"loop": loop.name, "state": "skipping"})

    def _queue_again(self, loop: Loop, now: datetime) -> None:
        if loop.running_since is None or rounds.has_begun(loop):
            return
        since = self._queued_again.get(loop.name, loop.running_since)
        if (now - since).total_seconds() < REQUEUE_SECONDS or queue.may_still_wait(since, now):
            return
        self._queued_again[loop.name] = now
        queue.enqueue(tasks.run_loop, loop.name, loop.round, loop.running_since.timestamp())

    def _say_trouble(self, words: str) -> None:
        if words and not self._trouble:
            logger.error("ticker waits for the database or the queue", extra={"error": words})
        elif self._trouble and not words:
            logger.info("ticker works again")
        self._trouble = words


def _is_due(loop: Loop, spec: LoopSpec, now: datetime) -> bool:
    ahead = (loop.next_due_at - now).total_seconds()
    return ahead <= 0 or ahead > rounds.period_of(loop, spec) + CLOCK_TOLERANCE_SECONDS


def _is_slow(loop: Loop, now: datetime) -> bool:
    return loop.running_since is not None and (now - loop.running_since).total_seconds() >= SLOW_SECONDS


def _set_back(loop: Loop, now: datetime) -> Loop:
    Loop.objects.filter(pk=loop.pk, next_due_at=loop.next_due_at).update(next_due_at=now)
    loop.next_due_at = now
    return loop
