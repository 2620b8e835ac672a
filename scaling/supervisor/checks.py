"""What must be so before anything starts; each refusal is one sentence for the person who ran `up`."""

import errno
import fcntl
import os
import socket
import time
from pathlib import Path


class CannotStart(Exception):
    """Why `up` does not start: one sentence with what to do about it, and the exit code that says it to scripts."""

    code = 1


class BadInput(CannotStart):
    """What was given cannot be used, whatever the machine is like."""

    code = 2


def make_data_folder(path: Path) -> None:
    """Make the data folder if need be, and prove that files can be written in it."""
    probe = path / ".writable"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise CannotStart(
            f"The data folder {path} cannot be written ({_why(error)}); make it writable, or set IRIS_STATE_DIR to "
            "another."
        ) from None


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


class DataFolderLock:
    """Held while `up` runs on a data folder; the kernel lets go of it however the process ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "up.lock"
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CannotStart(
                f"Iris runs on this data folder already (process {self._read() or 'unknown'}, {folder}); stop it there "
                "with Ctrl-C, or set IRIS_STATE_DIR to another folder."
            ) from None
        # Left behind by one that was killed: its children have a moment more to live.
        self.was_killed = bool(self._read())
        self._write(str(os.getpid()))

    def _read(self) -> str:
        self._file.seek(0)
        return self._file.read().strip()

    def _write(self, text: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text)
        self._file.flush()

    def release(self) -> None:
        self._write("")
        self._file.close()


def listen(host: str, port: int, patience_seconds: float = 0.0) -> socket.socket:
    """A listening socket on `host`:`port` (0 = any free port), asked for again until `patience_seconds` have passed."""
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            return _bound(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= deadline:
                raise CannotStart(_refused(host, port, error)) from None
        time.sleep(0.1)


def _bound(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except BaseException:
        listener.close()
        raise
    return listener


def _refused(host: str, port: int, error: OSError) -> str:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine; give another with --host."
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program; choose another with --port, for instance {port + 1}."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used without special rights; choose one from 1024 on with --port."
    return f"Cannot listen on {host}, port {port} ({_why(error)}); choose others with --host and --port."
