"""Ctrl-C for `up` alone when `make run` started it: make would otherwise be interrupted too, and report a failure."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def own_foreground() -> Iterator[None]:
    """Be the terminal's foreground process group by oneself; changes nothing where that is so, or without terminal.

    Ctrl-Z is off meanwhile: the shell knows make's group only and could not continue this one.
    """
    terminal = _terminal()
    before = os.getpgrp()
    if terminal is None or before == os.getpid() or os.tcgetpgrp(terminal) != before:
        yield
        return
    handlers = [(number, signal.signal(number, signal.SIG_IGN)) for number in (signal.SIGTTOU, signal.SIGTSTP)]
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpgrp())
    try:
        yield
    finally:
        with suppress(OSError):
            os.tcsetpgrp(terminal, before)
        for number, handler in handlers:
            signal.signal(number, handler)


def _terminal() -> int | None:
    with suppress(OSError, ValueError):
        descriptor = sys.stdin.fileno()
        os.tcgetpgrp(descriptor)
        return descriptor
    return None
