"""Tells when the task queue or the ticker is there but does nothing any more: the task queue can lock up for good."""

import shutil
import time
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from scaling import clock
from scaling.loops import marks, rounds
from scaling.loops.heartbeat import QUEUE
from scaling.models import Heartbeat, Loop
from scaling.supervisor.children import Child

# Loops are due every second or two, so this long without a task begun or ended is no pause; the first task after a
# start may take longer on a slow machine.
SILENCE_SECONDS = 5.0
FIRST_TASK_SECONDS = 30.0
# With other workers beside it that keep the heartbeat fresh, a worker may be unlucky for longer.
SILENCE_BESIDE_OTHERS_SECONDS = 60.0
TICKER_START_SECONDS = 5.0
TICKER_LATE_SECONDS = 10.0
# The queue's own guard ends a task a few seconds after its time limit.
TASK_SECONDS = float(settings.Q_CLUSTER["timeout"]) + 8


class QueueWatch:
    """The marks of the worker, in a new folder for each start.

    What a supervisor before this one left, killed together with its worker, is looked at and removed first.
    """

    def __init__(self, folder: Path) -> None:
        self._base = folder
        self._folder = folder
        self._starts = 0
        for old in folder.glob("*/"):
            _give_up_lost_rounds(old)
        shutil.rmtree(folder, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """For the next start of the worker."""
        self._starts += 1
        self._folder = self._base / str(self._starts)
        self._folder.mkdir(parents=True)
        return {marks.FOLDER: str(self._folder)}

    def give_up_lost_rounds(self) -> list[str]:
        """End the rounds whose process died while it ran them; returns the loops' names."""
        return _give_up_lost_rounds(self._folder) if self._folder.is_dir() else []

    def is_stuck(self, worker: Child, ticker: Child) -> bool:
        """Whether work is handed out and this worker neither runs any nor has begun or ended some for too long."""
        silent = min(marks.silent_seconds(self._folder), ticker.age_seconds - TICKER_START_SECONDS)
        limit = SILENCE_SECONDS if marks.is_used(self._folder) else FIRST_TASK_SECONDS
        if worker.group is None or silent < limit or marks.busy(self._folder, TASK_SECONDS):
            return False
        return silent >= SILENCE_BESIDE_OTHERS_SECONDS or not _heartbeat_is_fresh()


def _give_up_lost_rounds(folder: Path) -> list[str]:
    return [name for name, number in marks.collect_dead(folder) if rounds.give_up(name, number)]


def _heartbeat_is_fresh() -> bool:
    since = clock.now() - timedelta(seconds=SILENCE_SECONDS)
    return Heartbeat.objects.filter(name=QUEUE, at__gte=since).exists()


def ticker_is_stuck(ticker: Child) -> bool:
    """Whether deadlines pass and no ticker takes them."""
    if ticker.age_seconds < TICKER_LATE_SECONDS:
        return False
    late = clock.now() - timedelta(seconds=TICKER_LATE_SECONDS)
    return Loop.objects.filter(name="heartbeat", next_due_at__lt=late).exists()


class Patience:
    """True at most once per `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._next = seconds, 0.0

    def is_over(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True


def forget_connection() -> None:
    """Drop the supervisor's database connection after an error; the next question opens another."""
    connection.close()
