"""Follows the feed in a thread of its own and hands every event on, once and in order, until it is stopped."""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass

from django.db import Error as DatabaseError
from django.db import connection

from scaling.feed import reading
from scaling.feed.positions import Position
from scaling.feed.reading import FeedEvent
from scaling.feed.waking import Waker, waker

logger = logging.getLogger(__name__)

# An event held back by a running transaction is looked for again after the first of these pauses, then the next.
_HELD_BACK_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
# Reads are at least this far apart, so that a flood is read in batches.
_SPACING_SECONDS = 0.005
_REST_SECONDS = 2.0
_RETRY_SECONDS = (0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Listening:
    """What a tail calls, from its own thread.

    `started(position)` before the first event and after a gap (the feed behind was pruned or replaced: what happened up
    to `position` is unknown); `events(batch)`; `away(reason)` when the database stops answering, `back()` when it does.
    """

    started: Callable[[Position], None]
    events: Callable[[list[FeedEvent]], None]
    away: Callable[[str], None]
    back: Callable[[], None]


class Tail:
    """One reader of the feed. `looked_at` (monotonic seconds) tells when it last looked: old means stuck."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._position: Position | None = None
        self._stop_read, self._stop_write = os.pipe()
        self._stopping = False
        self._failures = 0
        self.looked_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="feed-tail", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """End the thread, which closes its database connection. Called once, from another thread."""
        self._stopping = True
        os.write(self._stop_write, b"x")
        self._thread.join(timeout_seconds)
        if not self._thread.is_alive():
            os.close(self._stop_read)
            os.close(self._stop_write)

    def _run(self) -> None:
        try:
            while not self._stopping:
                try:
                    with closing(waker()) as wake:
                        self._follow(wake)
                except Exception as error:
                    self._recover(error)
        finally:
            connection.close()

    def _catch_on(self) -> Position:
        """Stand at the head at first; later go on from where it was, unless the feed no longer reaches back there."""
        if self._position is None or not reading.is_complete_after(self._position):
            self._position = reading.head()
            self._listening.started(self._position)
        if self._failures:
            self._failures = 0
            logger.info("feed reachable again")
            self._listening.back()
        return self._position

    def _follow(self, wake: Waker) -> None:
        """Read and wait until stopped, or until the feed turns out to be another one than before."""
        position, fruitless = self._catch_on(), 0
        while not self._stopping:
            wake.arm()
            self.looked_at = time.monotonic()
            events = reading.read_after(position)
            if events:
                position = self._position = events[-1].position
                self._listening.events(events)
            elif position > reading.head():
                return
            if len(events) == reading.BATCH_ROWS:
                continue
            self._pause(_SPACING_SECONDS)
            if connection.vendor == "postgresql" and reading.has_unread(position):
                fruitless = 0 if events else fruitless + 1
                self._pause(_HELD_BACK_SECONDS[min(fruitless, len(_HELD_BACK_SECONDS) - 1)])
            else:
                wake.wait(_REST_SECONDS, self._stop_read)

    def _recover(self, error: Exception) -> None:
        """Whatever went wrong, the tail goes on: the pages of this process depend on it."""
        pause = _RETRY_SECONDS[min(self._failures, len(_RETRY_SECONDS) - 1)]
        if not self._failures:
            unforeseen = not isinstance(error, DatabaseError | OSError)
            logger.warning("feed unreachable", extra={"error": str(error).strip()}, exc_info=unforeseen)
            self._listening.away(str(error).strip())
        self._failures += 1
        with suppress(Exception):
            connection.close()
        self._pause(pause)

    def _pause(self, seconds: float) -> None:
        if not self._stopping:
            time.sleep(seconds)
