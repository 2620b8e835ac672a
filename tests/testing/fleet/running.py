"""The fleet as a process of its own, on its own folder and port."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
READY_SECONDS = 30


class RunningProgram:
    """A running `python -m scaling.testing.fleet` and how to speak with it."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.folder = folder
        (folder / "fleet.json").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scaling.testing.fleet", "--state-dir", str(folder), "--port", "0", *arguments],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        wait_for(lambda: (folder / "fleet.json").exists() or self.process.poll() is not None, READY_SECONDS)
        self.about = json.loads((folder / "fleet.json").read_text()) if self.process.poll() is None else {}

    @property
    def url(self) -> str:
        return str(self.about["url"])

    @property
    def token(self) -> str:
        return (self.folder / "token").read_text()

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:
            return json.load(answer)

    def replicas(self, deployment_id: str) -> dict[str, dict[str, Any]]:
        return dict(self.get("/_state")["deployments"][deployment_id]["replicas"])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(10)


@contextmanager
def program(folder: Path, *arguments: str, **environment: str) -> Iterator[RunningProgram]:
    """Ended at the end of the block, if it has not ended before."""
    running = RunningProgram(folder, *arguments, **environment)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
        if running.process.stdout:
            running.process.stdout.close()


def wait_for(condition: Callable[[], object], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and is not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def members_of_session(session: int) -> list[int]:
    """The processes of a session that are alive: the program's own and all it has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and is_alive(int(entry.name)):
            try:
                if os.getsid(int(entry.name)) == session:
                    found.append(int(entry.name))
            except ProcessLookupError:
                continue
    return found
