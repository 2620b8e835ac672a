"""The control plane as processes: the task queue and the ticker, started as `up` starts them and killed as one."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.torture import ROOT
from scaling.supervisor.guard import Guard
from scaling.supervisor.watch import LOOK_SECONDS, QueueWatch

DEATH_SECONDS = 10.0


class ControlPlane:
    """`environment` is what the processes get beside ours; they die with this one, however it ends."""

    def __init__(self, state: Path, environment: Mapping[str, str]) -> None:
        self.log = state / "control-plane.log"
        self._marks = state / "run" / "marks"
        self._environment = {**os.environ, **environment}
        self._guard = Guard()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._deaths = -1
        self._watch: QueueWatch | None = None
        self._looked_at = 0.0

    def start(self) -> None:
        """Start both, as after a restart of the machine: what an earlier life left is met by the product itself."""
        self._watch = watch = QueueWatch(self._marks)
        # Every descendant inherits the writing end, so the reading one ends when the last of them is dead.
        self._deaths, alive = os.pipe()
        for command, extra in (("qcluster", watch.environment()), ("ticker", {})):
            self._start(command, extra, alive)
        os.close(alive)

    def _start(self, command: str, extra: Mapping[str, str], alive: int) -> None:
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **extra},
                pass_fds=(alive,),
                start_new_session=True,
            )
        self._processes.append(process)
        self._guard.add(process.pid)

    def look(self) -> None:
        """What the supervisor does each second: end the rounds whose process has died."""
        if self._watch is not None and time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._watch.give_up_lost_rounds()

    def has_died(self) -> bool:
        """Whether one of them has ended by itself."""
        return any(process.poll() is not None for process in self._processes)

    def kill(self) -> None:
        """SIGKILL to every process of it, and wait until the last one is dead and its locks are free."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in self._processes:
            process.wait()
            self._guard.remove(process.pid)
        self._processes.clear()
        if self._deaths >= 0:
            if not select.select([self._deaths], [], [], DEATH_SECONDS)[0]:
                raise RuntimeError(f"a process of the control plane outlived SIGKILL by {DEATH_SECONDS:g} s")
            os.close(self._deaths)
            self._deaths = -1

    def close(self) -> None:
        self.kill()
        self._guard.close()
