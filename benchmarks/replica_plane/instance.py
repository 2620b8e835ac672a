"""One instance of the control plane: a ticker and a task queue under one name, started as `up` starts them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.replica_plane import ROOT
from scaling.supervisor.guard import Guard

TERM_SECONDS = 15.0


class Instance:
    """Both processes; they die with this one, however it ends."""

    def __init__(self, name: str, log: Path, guard: Guard, environment: Mapping[str, str]) -> None:
        self.name = name
        self._log = log
        self._guard = guard
        self._environment = {**os.environ, **environment, "IRIS_INSTANCE": name}
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        for command in ("qcluster", "ticker"):
            with self._log.open("ab") as log:
                process = subprocess.Popen(
                    [sys.executable, str(ROOT / "manage.py"), command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=self._environment,
                    start_new_session=True,
                )
            self._processes.append(process)
            self._guard.add(process.pid)

    def kill(self) -> float:
        """SIGKILL to every process of it at once; returns when (Unix seconds) they were dead."""
        return self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, and what is left of it after a while is killed."""
        for process in self._processes:
            process.terminate()
        deadline = time.monotonic() + TERM_SECONDS
        while time.monotonic() < deadline and any(process.poll() is None for process in self._processes):
            time.sleep(0.05)
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> float:
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        for process in self._processes:
            process.wait()
            self._guard.remove(process.pid)
        self._processes.clear()
        return time.time()

    def ended_by_itself(self) -> bool:
        return any(process.poll() is not None for process in self._processes)

    def pids(self) -> set[int]:
        """Its processes and all they have started."""
        return {pid for process in self._processes for pid in _session(process.pid)}


def _session(leader: int) -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                if os.getsid(int(entry.name)) == leader:
                    found.add(int(entry.name))
    return found
