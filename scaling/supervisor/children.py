"""A process that is kept alive: started in a session of its own, ended with all its descendants."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from scaling.supervisor.logfiles import OutputCopier

# One that lived this long came up well: it is started again at once.
STEADY_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.5
# With the start itself, short of the ten seconds within which a child that is killed again and again should be back.
LONGEST_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. `descriptors` are the open files it inherits, beside its output."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()


class Child:
    """One program and its current process, if any. Its process group has the number of that process."""

    def __init__(self, program: Program, log: Path, show: Callable[[str], None] | None = None) -> None:
        self.program = program
        self.log = log
        self.started_at = 0.0
        self.quick_deaths = 0
        self.start_again_at = 0.0
        self._show = show
        self._process: subprocess.Popen[bytes] | None = None
        self._output: OutputCopier | None = None

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def group(self) -> int | None:
        """The number of its process group; None while it does not run."""
        return self._process.pid if self._process else None

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self.started_at if self._process else 0.0

    def start(self, environment: Mapping[str, str] | None = None) -> int:
        """Start it; returns its process group."""
        self._process = subprocess.Popen(  # noqa: S603 - commands of our own
            self.program.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self.program.environment, **(environment or {})},
            pass_fds=self.program.descriptors,
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - stdout=PIPE above
        self._output = OutputCopier(self.name, self._process.stdout, self.log, self._show)
        self._output.start()
        self.started_at = time.monotonic()
        return self._process.pid

    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def bury(self) -> str:
        """After its end: kill what is left of its group, plan its next start, and say how it ended."""
        assert self._process is not None  # noqa: S101 - callers ask has_ended() first
        lived = self.age_seconds
        self.signal_group(signal.SIGKILL)
        words = _ending(self._process.wait())
        if self._output is not None:
            self._output.join(0.5)
            if self._process.returncode > 0 and self._output.last_words():
                words += f": {self._output.last_words()}"
        self._process = None
        self.quick_deaths = 0 if lived >= STEADY_SECONDS else self.quick_deaths + 1
        self.start_again_at = time.monotonic() + self.pause_seconds()
        return words

    def pause_seconds(self) -> float:
        """How long to wait before the next start: nothing after a steady life, doubled with each quick death."""
        if not self.quick_deaths:
            return 0.0
        return float(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (self.quick_deaths - 1)))

    def ask_to_stop(self) -> None:
        """SIGTERM to the process itself, which ends its own children in order."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def signal_group(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
