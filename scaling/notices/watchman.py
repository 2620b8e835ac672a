"""Watches and delivers, in a thread of every web and every ticker process.

Not a loop of the task queue: it has to tell that the queue or the ticker is what has stalled. Each look is claimed by
a conditional UPDATE, so that of all watchmen on the database one makes it; and what was told is stored, so that it is
told once whoever looks next.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import F

from scaling import clock
from scaling.models import Loop
from scaling.notices import channels, keeping, options
from scaling.notices.courier import Courier
from scaling.notices.facts import WATCH

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 5.0
_STEP_SECONDS = 1.0
_BUSY_STEP_SECONDS = 0.2
# A watchman that could not look for so long (a machine asleep) does not know what was meanwhile.
BLIND = timedelta(seconds=60)


class Watchman:
    """One process's watch. `step` is all it does, once a second."""

    def __init__(self, now: datetime) -> None:
        self._options = options.read()
        self._courier = Courier(self._options.attempts)
        self._since = now
        self._stepped_at = now
        self._synced_at: datetime | None = None
        self._trouble = ""

    def run(self, stop: threading.Event) -> None:
        """Step until `stop`. A database that does not answer is said once and asked again."""
        try:
            while not stop.wait(_BUSY_STEP_SECONDS if self._courier.is_busy else _STEP_SECONDS):
                try:
                    self.step(clock.now())
                    self._say("")
                except Exception as error:
                    self._say(f"{type(error).__name__}: {error}", unforeseen=not isinstance(error, DatabaseError))
                    with suppress(Exception):
                        connection.close()
        finally:
            self._courier.end()
            connection.close()

    def step(self, now: datetime) -> None:
        """Look when a look is due, and carry what is to be carried."""
        if not timedelta(0) <= now - self._stepped_at <= BLIND:
            self._since = now
        self._stepped_at = now
        if self._synced_at is None or now - self._synced_at >= timedelta(minutes=1):
            channels.note_environment(now)
            self._synced_at = now
        if claim(now):
            try:
                keeping.look(now, self._since, self._options)
            except Exception as error:
                finish(now, f"{type(error).__name__}: {error}"[:500])
                raise
            finish(now)
        self._courier.step(now)

    def end(self) -> None:
        self._courier.end()

    def _say(self, words: str, *, unforeseen: bool = False) -> None:
        if words and not self._trouble:
            logger.error("notices wait", extra={"error": words}, exc_info=unforeseen)
        elif self._trouble and not words:
            logger.info("notices go on")
        self._trouble = words


def claim(now: datetime) -> bool:
    """Whether the look that is due is ours. A deadline too far ahead was made by a clock that was set back since."""
    row = Loop.objects.filter(name=WATCH).first()
    if row is None:
        first = Loop(name=WATCH, period_seconds=PERIOD_SECONDS, next_due_at=now)
        Loop.objects.bulk_create([first], ignore_conflicts=True)
        row = Loop.objects.get(name=WATCH)
    period = timedelta(seconds=PERIOD_SECONDS)
    if timedelta(0) < row.next_due_at - now <= period:
        return False
    lateness_ms = max(0.0, (now - row.next_due_at).total_seconds() * 1000) if row.round else 0.0
    mine = Loop.objects.filter(pk=row.pk, next_due_at=row.next_due_at, round=row.round)
    return bool(
        mine.update(
            next_due_at=now + period,
            period_seconds=PERIOD_SECONDS,
            round=F("round") + 1,
            last_started_at=now,
            last_lateness_ms=lateness_ms,
        )
    )


def finish(now: datetime, error: str = "") -> None:
    Loop.objects.filter(name=WATCH).update(last_finished_at=now, last_error=error)


@contextmanager
def watching() -> Iterator[None]:
    """Watch in a thread of its own for the block."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: Watchman(clock.now()).run(stop), name="watchman", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(1.0)
