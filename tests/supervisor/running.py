"""`manage.py up` as a person runs it: in a process of its own, on a data folder and a port of its own."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 60
# What is promised holds on a machine that has little else to do. In `make test` other parts work beside this one.
PACE = 4 if "IRIS_TEST_PART" in os.environ else 1


class Up:
    """A running `up`, what it has said so far, and what it stored."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "up", *arguments],
            cwd=ROOT,
            env=_clean(os.environ) | {"IRIS_STATE_DIR": str(folder), "IRIS_DEMONSTRATION_FLEET": "0", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def pid(self) -> int:
        return self._process.pid

    def told(self, pattern: str, since: int = 0, seconds: float = READY_SECONDS) -> re.Match[str]:
        """Waits for a line, after the first `since`, that `pattern` is found in."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in self.lines[since:]:
                if match := re.search(pattern, line):
                    return match
            if self._process.poll() is not None and not self._reader.is_alive():
                break
            time.sleep(0.02)
        raise AssertionError(f"never said {pattern!r}: {self.lines}")

    @property
    def url(self) -> str:
        return self.told(r"Iris is ready: (http://\S+)").group(1)

    @property
    def password(self) -> str:
        return self.told(r"Password: (\S+)").group(1)

    def children(self) -> dict[str, int]:
        """Process id of web, worker, ticker and what a demonstration adds, as far as they run."""
        words = {"supervisor.web": "web", "qcluster": "worker", "ticker": "ticker", "guardian.py": "guardian"}
        words |= {"testing.fleet": "fleet", "--config.file=": "prometheus"}
        found = {}
        for pid, parent, command in processes():
            if parent == self.pid:
                found |= {name: pid for word, name in words.items() if word in command}
        return found

    def everything(self) -> set[int]:
        """All processes that work on this data folder or descend from it."""
        table = processes()
        mine = {self.pid}
        while grown := {pid for pid, parent, _ in table if parent in mine} - mine:
            mine |= grown
        return mine

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The answer of its database, read beside it."""
        connection = sqlite3.connect(f"file:{self.folder / 'iris.sqlite3'}?mode=ro", uri=True, timeout=10)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, seconds: float = 10) -> int:
        """Its exit code."""
        code = self._process.wait(seconds)
        self._reader.join(5)
        return code


OURS = ("IRIS_", "DJANGO_", "DATABASE_URL", "LYC_", "API_BASE_URL", "DEPLOYMENT_SCALER_SERVICE_TOKEN")


def _clean(environment: Any) -> dict[str, str]:
    """Without what the test run set for itself."""
    return {key: value for key, value in environment.items() if not key.startswith(OURS)}


@contextmanager
def up(folder: Path, *arguments: str, **environment: str) -> Iterator[Up]:
    """`up` on a free port. At the end it is killed, and its guardian must end whatever it had started."""
    running = Up(folder, "--port", "0", *arguments, **environment)
    try:
        yield running
    finally:
        left = running.everything()
        kill(running.pid)
        running.wait()
        within(15, lambda: not alive(left), "the end of everything")


def processes() -> list[tuple[int, int, str]]:
    """(pid, parent, command line) of every process that has not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if state not in "ZX":
                found.append((int(entry.name), int(parent), command))
    return found


def alive(pids: set[int]) -> set[int]:
    return pids & {pid for pid, _, _ in processes()}


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def within(seconds: float, condition: Callable[[], object], what: str = "it") -> float:
    """Waits until `condition` holds; returns how long that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"{what} did not come about within {seconds:g} s"
        time.sleep(0.05)
    return time.monotonic() - began
