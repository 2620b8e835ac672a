"""Whether the ticker hands out work, judged by what it moves from look to look.

Not by how late deadlines are: after a start on a busy machine they are all late, and the ticker needs its time to come
up; and a clock that was set forward, or a machine that slept, makes them late at once.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from scaling import clock
from scaling.loops.heartbeat import LOOP
from scaling.models import Loop
from scaling.supervisor.children import Child

# Its most frequent deadlines are a second or two apart, so this long without any taken is no pause.
SILENCE_SECONDS = 10.0
# Until the first deadline after a start: a slow or busy machine takes long to bring a process up.
START_SECONDS = 30.0
# Each start in a row that came to nothing may take twice as long as the one before, up to this.
LONGEST_START_SECONDS = 240.0
# Time between two looks counts at most this much: when nobody could look, nobody knows who was silent. A busy machine
# makes looks late by seconds; after longer than that nothing of what was before counts.
LONGEST_LOOK_SECONDS = 3.0
BLIND_SECONDS = 15.0
# The heartbeat is due every two seconds; with none taken for this long no work is handed out.
PAUSE_SECONDS = 5.0


class TickerWatch:
    """Look once a second. `working_seconds`: for how long this ticker has handed out work without a pause."""

    def __init__(self, ticker: Child, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._ticker = ticker
        self._monotonic = monotonic
        self._looked_at = monotonic()
        self._group: int | None = None
        self._deadline: datetime | None = None
        self._silent_seconds = 0.0
        self._has_worked = False
        self._fruitless_starts = 0
        self.working_seconds = 0.0

    def look(self) -> None:
        """Compare the heartbeat's deadline with the one of the look before."""
        deadline = Loop.objects.filter(name=LOOP).values_list("next_due_at", flat=True).first()
        passed, moved = self._passed(), deadline != self._deadline
        self._deadline = deadline
        if self._ticker.group != self._group:
            self._begin(self._ticker.group)
        elif moved:
            self._silent_seconds, self._has_worked = 0.0, True
            self.working_seconds += passed
        else:
            self._silent_seconds += passed
            self.working_seconds = 0.0 if self._silent_seconds >= PAUSE_SECONDS else self.working_seconds + passed

    def is_stuck(self) -> bool:
        """Whether deadlines pass and this ticker has taken none for too long, by the last look."""
        limit = SILENCE_SECONDS if self._has_worked else self._start_seconds()
        return self._group is not None and self._silent_seconds >= limit and self._is_late()

    def forgive(self) -> None:
        """Its silence up to now was another's fault."""
        self._silent_seconds = 0.0

    def _passed(self) -> float:
        now = self._monotonic()
        passed, self._looked_at = now - self._looked_at, now
        if passed > BLIND_SECONDS:
            self.working_seconds = 0.0
        return min(passed, LONGEST_LOOK_SECONDS)

    def _begin(self, group: int | None) -> None:
        """Another process, or none for now."""
        if self._group is not None:
            self._fruitless_starts = 0 if self._has_worked else self._fruitless_starts + 1
        self._group = group
        self._silent_seconds, self._has_worked, self.working_seconds = 0.0, False, 0.0

    def _start_seconds(self) -> float:
        return float(min(LONGEST_START_SECONDS, START_SECONDS * 2**self._fruitless_starts))

    def _is_late(self) -> bool:
        return self._deadline is None or self._deadline < clock.now() - timedelta(seconds=SILENCE_SECONDS)
