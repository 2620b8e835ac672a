"""Keeps web, worker and ticker alive, and ends them together."""

import logging
import signal
import time
from collections.abc import Callable, Sequence

from django.db import DatabaseError

from scaling.stopping import StopRequest
from scaling.supervisor.children import Child
from scaling.supervisor.guard import Guard
from scaling.supervisor.watch import Patience, QueueWatch, forget_connection, ticker_is_stuck

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.1
WATCH_SECONDS = 1.0
# Of the three seconds that a stop may take, what is left after this goes to killing.
GRACE_SECONDS = 1.5


class Supervisor:
    """Runs its children until it is told to stop. `say` writes one line for the person at the terminal."""

    def __init__(self, web: Child, worker: Child, ticker: Child, queue: QueueWatch, say: Callable[[str], None]) -> None:
        self._web, self._worker, self._ticker = web, worker, ticker
        self._queue = queue
        self._say = say
        self._guard = Guard()
        self._watch_due = Patience(WATCH_SECONDS)

    @property
    def children(self) -> Sequence[Child]:
        return (self._web, self._worker, self._ticker)

    def run(self, stop: StopRequest) -> None:
        """Start everything, keep it alive, and end it all once `stop` is requested (at once, when requested twice)."""
        try:
            for child in self.children:
                self._start(child)
            while not stop.wait(LOOK_SECONDS):
                self._guard.look()
                for child in self.children:
                    self._keep_alive(child)
                if self._watch_due.is_over():
                    self._watch()
        finally:
            self._end(stop)

    def _start(self, child: Child) -> None:
        environment = self._queue.environment() if child is self._worker else {}
        try:
            self._guard.add(child.start(environment))
        except OSError as error:
            child.quick_deaths += 1
            child.start_again_at = time.monotonic() + child.pause_seconds()
            self._say(f"{child.name} cannot be started ({error.strerror}); trying again")

    def _keep_alive(self, child: Child) -> None:
        if child.has_ended():
            group, ending = child.group, child.bury()
            if group is not None:
                self._guard.remove(group)
            pause = child.pause_seconds()
            when = "at once" if not pause else f"in {pause:g} s"
            self._say(f"{child.name} {ending}; starting it again {when} (log: {child.log})")
            if child is self._worker:
                self._ask(self._queue.give_up_lost_rounds)
        if child.group is None and time.monotonic() >= child.start_again_at:
            self._start(child)

    def _watch(self) -> None:
        self._ask(self._queue.give_up_lost_rounds)
        if self._worker.group is not None and self._ask(lambda: self._queue.is_stuck(self._worker, self._ticker)):
            self._say("worker takes no more tasks; replacing it")
            self._worker.signal_group(signal.SIGKILL)
        if self._ticker.group is not None and self._ask(lambda: ticker_is_stuck(self._ticker)):
            self._say("ticker lets deadlines pass; replacing it")
            self._ticker.signal_group(signal.SIGKILL)

    def _ask(self, question: Callable[[], object]) -> bool:
        """The answer of the database; no while it has none, which is never the children's fault."""
        try:
            return bool(question())
        except (DatabaseError, OSError) as error:
            logger.debug("no answer", extra={"error": str(error)})
            forget_connection()
            return False

    def _end(self, stop: StopRequest) -> None:
        deadline = time.monotonic() + GRACE_SECONDS
        for child in self.children:
            child.ask_to_stop()
        while any(not child.has_ended() for child in self._running()) and time.monotonic() < deadline:
            if stop.times > 1:
                break
            time.sleep(0.02)
        for child in self._running():
            group = child.group
            child.signal_group(signal.SIGKILL)
            child.bury()
            if group is not None:
                self._guard.remove(group)
        self._guard.close()

    def _running(self) -> list[Child]:
        return [child for child in self.children if child.group is not None]
