"""Tells when the task queue or the ticker is there but does nothing any more: the task queue can lock up for good."""

import logging
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from scaling import clock, feed
from scaling.loops import marks, rounds
from scaling.loops.heartbeat import QUEUE
from scaling.models import Heartbeat
from scaling.supervisor.children import Child
from scaling.supervisor.ticker_watch import TickerWatch

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
# Loops are due every second or two, so this long without a task begun or ended is no pause; the first task after a
# start may take longer on a slow machine, and after a start that came to nothing longer still.
SILENCE_SECONDS = 5.0
FIRST_TASK_SECONDS = 30.0
LONGEST_FIRST_TASK_SECONDS = 240.0
# With other workers beside it that keep the heartbeat fresh, a worker may be unlucky for longer.
SILENCE_BESIDE_OTHERS_SECONDS = 60.0
# The queue's own guard ends a task a few seconds after its time limit.
TASK_SECONDS = float(settings.Q_CLUSTER["timeout"]) + 8


class QueueWatch:
    """The marks of the worker, in a new folder for each start.

    What a supervisor before this one left, killed together with its worker, is looked at too, until no process that
    it names lives any more.
    """

    def __init__(self, folder: Path) -> None:
        self._base = folder
        self._folder = folder
        self._fruitless_starts = 0
        self.give_up_lost_rounds()
        for old in folder.glob("*/"):
            if not marks.are_left(old):
                shutil.rmtree(old, ignore_errors=True)
        self._starts = max((int(old.name) for old in folder.glob("*/") if old.name.isdigit()), default=0)

    def environment(self) -> dict[str, str]:
        """For the next start of the worker."""
        if self._folder != self._base:
            self._fruitless_starts = 0 if marks.is_used(self._folder) else self._fruitless_starts + 1
        self._starts += 1
        folder = self._base / str(self._starts)
        folder.mkdir(parents=True)
        self._folder = folder
        return {marks.FOLDER: str(folder)}

    def give_up_lost_rounds(self) -> list[str]:
        """End the rounds whose process died while it ran them, of this start and those before; their loops' names."""
        lost = [round_ for folder in self._base.glob("*/") for round_ in marks.collect_dead(folder)]
        given_up = [name for name, number in lost if rounds.give_up(name, number)]
        for name in given_up:
            logger.warning("round was lost with its process", extra={"loop": name})
            feed.publish("loops", "state", {"loop": name, "state": "failing", "error": rounds.LOST})
        return given_up

    def is_stuck(self, worker: Child, ticker: TickerWatch) -> bool:
        """Whether work is handed out and this worker neither runs any nor has begun or ended some for too long.

        One that hangs in a task may hold a lock that the ticker waits for: then nothing more need be handed out.
        """
        silent = marks.silent_seconds(self._folder)
        if not marks.overdue(self._folder, TASK_SECONDS):
            silent = min(silent, ticker.working_seconds)
        limit = SILENCE_SECONDS if marks.is_used(self._folder) else self._first_task_seconds()
        if worker.group is None or silent < limit or self.is_busy():
            return False
        return silent >= SILENCE_BESIDE_OTHERS_SECONDS or not _heartbeat_is_fresh()

    def is_busy(self) -> bool:
        """Whether it runs a task that has not taken too long yet."""
        return marks.busy(self._folder, TASK_SECONDS)

    def _first_task_seconds(self) -> float:
        return float(min(LONGEST_FIRST_TASK_SECONDS, FIRST_TASK_SECONDS * 2**self._fruitless_starts))


def _heartbeat_is_fresh() -> bool:
    since = clock.now() - timedelta(seconds=SILENCE_SECONDS)
    return Heartbeat.objects.filter(name=QUEUE, at__gte=since).exists()


class Watcher(threading.Thread):
    """Asks once a second, in a thread of its own: a database that hangs must not hold up the supervisor.

    `stuck` holds the processes found stuck (their group, so that a replacement is not meant), until they are taken.
    """

    def __init__(self, queue: QueueWatch, worker: Child, ticker: Child) -> None:
        super().__init__(name="watcher", daemon=True)
        self._queue, self._worker, self._ticker = queue, worker, ticker
        self._ticker_watch = TickerWatch(ticker)
        self._stop = threading.Event()
        self.stuck: dict[Child, int] = {}

    def run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            self.look()
        connection.close()

    def look(self) -> None:
        """Ask everything once."""
        self._ask(lambda: bool(self._queue.give_up_lost_rounds()))
        if self._ask(self._look_at_ticker):
            self._note(self._worker, lambda: self._queue.is_stuck(self._worker, self._ticker_watch))
            self._judge_ticker()

    def _judge_ticker(self) -> None:
        """While a task runs the ticker may wait for its lock, and once the worker is replaced it may go on."""
        if self._worker in self.stuck:
            self._ticker_watch.forgive()
        self._note(self._ticker, lambda: self._ticker_watch.is_stuck() and not self._queue.is_busy())

    def _look_at_ticker(self) -> bool:
        self._ticker_watch.look()
        return True

    def _note(self, child: Child, is_stuck: Callable[[], bool]) -> None:
        group = child.group
        if group is not None and self._ask(is_stuck):
            self.stuck[child] = group

    def _ask(self, question: Callable[[], bool]) -> bool:
        """The database's answer; no while it has none, which is not the children's fault."""
        try:
            return question()
        except (DatabaseError, OSError) as error:
            logger.debug("no answer", extra={"error": str(error)})
            with suppress(DatabaseError):
                connection.close()
            return False

    def end(self) -> None:
        self._stop.set()
