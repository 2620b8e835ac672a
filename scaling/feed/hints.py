"""A hint that the feed has grown, from any process to every reader on this machine: one empty unix datagram each.

A hint carries nothing and may be lost: a reader that misses it looks for itself a second later. Sockets of readers
stand in one directory of the data folder; one whose reader has died refuses the datagram and is removed.
"""

import contextlib
import errno
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

_SUFFIX = ".sock"
# A unix address holds 108 bytes on Linux, 104 elsewhere; longer paths are reached by the directory's descriptor.
_ADDRESS_BYTES = 100
_DEAD = {errno.ECONNREFUSED, errno.ENOENT, errno.EPROTOTYPE}


def directory() -> Path:
    """Where the sockets of readers stand."""
    return Path(settings.STATE_DIR) / "feed"


def send() -> None:
    """Wake every reader on this machine. Never blocks and never raises."""
    with contextlib.suppress(OSError), _reachable(directory()) as base:
        names = [name for name in os.listdir(directory()) if name.endswith(_SUFFIX)]
        if names:
            _send_to(base, names)


def _send_to(base: str, names: list[str]) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        for name in names:
            try:
                sender.sendto(b"", f"{base}/{name}")
            except OSError as error:
                if error.errno in _DEAD:
                    with contextlib.suppress(OSError):
                        (directory() / name).unlink()


@contextlib.contextmanager
def _reachable(path: Path) -> Iterator[str]:
    """A name for the directory `path` that is short enough for a unix address."""
    if len(os.fsencode(path)) + 32 <= _ADDRESS_BYTES:
        yield str(path)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


class Listener:
    """The receiving end: registered while open. Without a usable socket it stays silent, and readers look by clock."""

    def __init__(self) -> None:
        self._path = directory() / f"{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        with contextlib.suppress(OSError):
            directory().mkdir(mode=0o700, parents=True, exist_ok=True)
            with _reachable(directory()) as base:
                self.socket.bind(f"{base}/{self._path.name}")

    def fileno(self) -> int:
        """For `select`: readable when a hint has come."""
        return self.socket.fileno()

    def drain(self) -> None:
        """Take all waiting hints: one look at the feed answers them all."""
        with contextlib.suppress(OSError):
            while True:
                self.socket.recv(1)

    def close(self) -> None:
        self.socket.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
