"""Throwaway services from programs on this machine: found, started on a free port, stopped with their files."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class MissingProgramError(Exception):
    """A program that a service needs is not on this machine."""


class ServiceError(Exception):
    """A service did not start; the text holds the end of what it wrote."""


def find(program: str, *patterns: str) -> str:
    """The path of `program`: from PATH, else the last match of `patterns` (the newest version of several)."""
    found = shutil.which(program) or next(
        (path for pattern in patterns for path in sorted(glob.glob(pattern), reverse=True) if os.access(path, os.X_OK)),
        None,
    )
    if not found:
        raise MissingProgramError(program)
    return found


def free_port() -> int:
    """A TCP port that nobody listens on at the moment of asking."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def unprivileged() -> dict[str, int | list[int]]:
    """Popen arguments that leave root behind, for servers which refuse to run as root; empty for other users."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise ServiceError("running as root, and neither user postgres nor nobody exists to run a server as")


@contextmanager
def folder(prefix: str, owner: dict[str, int | list[int]] | None = None) -> Iterator[Path]:
    """A temporary folder, given to `owner` when there is one, removed at the end."""
    path = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        if owner:
            os.chown(path, int(owner["user"]), int(owner["group"]))  # type: ignore[arg-type]
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    log: Path,
    ready: Callable[[], bool],
    seconds: float = 20,
    owner: dict[str, int | list[int]] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `command` until the block ends, entered once `ready()` is true; it dies with a SIGINT, then a SIGKILL."""
    with log.open("wb") as output:
        process = subprocess.Popen(  # type: ignore[call-overload]
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **(owner or {})
        )
    try:
        _wait(name, process, log, ready, seconds)
        yield process
    finally:
        _stop(process)


def _wait(name: str, process: subprocess.Popen[bytes], log: Path, ready: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            state = "did not answer" if process.poll() is None else f"ended with {process.returncode}"
            raise ServiceError(f"{name} {state}: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(2)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def listens(port: int) -> bool:
    """Whether something accepts connections on the local `port`."""
    with socket.socket() as caller:
        caller.settimeout(0.5)
        return caller.connect_ex(("127.0.0.1", port)) == 0
