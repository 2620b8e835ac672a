"""The supervisor's end of the guardian, which ends the children if the supervisor itself is killed."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from scaling.supervisor import guardian


class Guard:
    """Tells the guardian which process groups live; starts another guardian when that one was killed."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._process, self._input = _start()

    def add(self, group: int) -> None:
        self._groups.add(group)
        self._tell(f"+{group}")

    def remove(self, group: int) -> None:
        self._groups.discard(group)
        self._tell(f"-{group}")

    def look(self) -> None:
        """Replace a guardian that has died."""
        if self._process.poll() is not None:
            os.close(self._input)
            self._process, self._input = _start()
            for group in sorted(self._groups):
                self._tell(f"+{group}")

    def _tell(self, line: str) -> None:
        # One that was killed is replaced, and told everything, at the next look.
        with suppress(OSError):
            os.write(self._input, f"{line}\n".encode())

    def close(self) -> None:
        """End the guardian: at once where every group it was told of has been removed, else when it has ended those."""
        if not self._groups:
            self._process.kill()
        os.close(self._input)
        self._process.wait()


def _start() -> tuple[subprocess.Popen[bytes], int]:
    read, write = os.pipe()
    process = subprocess.Popen(  # noqa: S603 - a script of our own
        [sys.executable, "-I", "-S", str(Path(guardian.__file__))],
        stdin=read,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(read)
    return process, write
