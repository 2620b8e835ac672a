"""Keeps web, worker and ticker alive, with what a demonstration adds, and ends them together."""

import signal
import time
from collections.abc import Callable, Sequence

from scaling.stopping import StopRequest
from scaling.supervisor.children import Child
from scaling.supervisor.guard import Guard
from scaling.supervisor.watch import QueueWatch, Watcher

LOOK_SECONDS = 0.1
# Of the three seconds that a stop may take, what is left after this goes to killing.
GRACE_SECONDS = 1.2
TOLD_DEATHS = 5
STUCK = {"worker": "takes no more tasks", "ticker": "lets deadlines pass"}


class Supervisor:
    """Runs its children until it is told to stop. `say` writes one line for the person at the terminal."""

    def __init__(
        self,
        web: Child,
        worker: Child,
        ticker: Child,
        queue: QueueWatch,
        say: Callable[[str], None],
        others: Sequence[Child] = (),
    ) -> None:
        self._web, self._worker, self._ticker = web, worker, ticker
        self._others = tuple(others)
        self._queue = queue
        self._say = say
        self._guard = Guard()
        self._watcher = Watcher(queue, worker, ticker)

    @property
    def children(self) -> Sequence[Child]:
        return (self._web, self._worker, self._ticker, *self._others)

    def run(self, stop: StopRequest) -> None:
        """Start everything, keep it alive, and end it all once `stop` is requested (at once, when requested twice)."""
        try:
            for child in self.children:
                self._start(child)
            self._watcher.start()
            while not stop.wait(LOOK_SECONDS):
                self._guard.look()
                for child in self.children:
                    self._keep_alive(child)
                self._replace_stuck()
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
            self._tell(child, ending)
        if child.group is None and time.monotonic() >= child.start_again_at:
            self._start(child)

    def _tell(self, child: Child, ending: str) -> None:
        """Each death is told, but of a long row of quick ones only every tenth."""
        deaths, pause = child.quick_deaths, child.pause_seconds()
        if deaths <= TOLD_DEATHS or deaths % 10 == 0:
            again = "starting it again at once" if not pause else f"starting it again in {pause:g} s"
            row = f" ({deaths} quick deaths in a row)" if deaths > TOLD_DEATHS else ""
            self._say(f"{child.name} {ending}; {again}{row} (log: {child.log})")

    def _replace_stuck(self) -> None:
        while self._watcher.stuck:
            child, group = self._watcher.stuck.popitem()
            if child.group == group:
                self._say(f"{child.name} {STUCK[child.name]}; replacing it")
                child.signal_group(signal.SIGKILL)

    def _end(self, stop: StopRequest) -> None:
        self._watcher.end()
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
