"""Waiting that a signal may end, for processes which run until they are told to stop."""

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Set once, for good, by a signal handler or another thread.

    A pipe instead of a threading.Event: its lock is not safe to take in a signal handler that interrupts a wait.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.times = 0
        # On the monotonic clock, when it was made first.
        self.made_at = 0.0

    def set(self) -> None:
        self.times += 1
        if self.times == 1:
            self.made_at = time.monotonic()
            os.write(self._write, b".")

    def is_set(self) -> bool:
        return self.times > 0

    def wait(self, seconds: float) -> bool:
        """Sleep for `seconds`, or until the request is made; returns whether it was."""
        select.select([self._read], [], [], max(0.0, seconds))
        return self.is_set()

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)

    @contextmanager
    def on_signals(self, *numbers: signal.Signals) -> Iterator["StopRequest"]:
        """Let these signals make the request; the handlers before come back at the end. Main thread only."""

        def handle(_number: int, _frame: FrameType | None) -> None:
            self.set()

        before = [(number, signal.signal(number, handle)) for number in numbers]
        try:
            yield self
        finally:
            for number, handler in before:
                signal.signal(number, handler)
