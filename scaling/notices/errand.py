"""A message carried by a process of its own (`scaling.notices.sender`), whose time is bounded.

Most of a process's time is its start: what waits meanwhile is carried by one that has just ended its errand well.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from scaling.notices import addresses
from scaling.notices.options import ATTEMPT_SECONDS
from scaling.notices.retries import Answer

# Beyond the attempt itself: a busy machine takes its time to start a process.
START_SECONDS = 30.0
_SENDER = (sys.executable, "-m", "scaling.notices.sender")
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Order:
    """A message for an address; `kind` is a MessageKind's word."""

    url: str
    title: str
    body: str
    kind: str
    id: str


class Errand:
    """A message under way; `seconds` bound what the receiver may take. `spare` takes its process when it is free."""

    def __init__(
        self, order: Order, seconds: float = ATTEMPT_SECONDS, spare: "list[subprocess.Popen[bytes]] | None" = None
    ) -> None:
        words = {"title": order.title, "body": order.body, "kind": order.kind, "id": order.id}
        self._url = order.url
        self._until = time.monotonic() + seconds + START_SECONDS
        self._spare = spare
        self._told = b""
        self._process = spare.pop() if spare else _launch()
        _give(self._process, {**words, "url": order.url, "seconds": seconds})

    def answer(self) -> Answer | None:
        """How it was; None while it is under way."""
        ended = self._process.poll() is not None
        self._told += _heard(self._process)
        if not ended and not self._told.endswith(b"\n") and time.monotonic() < self._until:
            return None
        told = _read(self._told)
        if self._spare is not None and told is not None and not ended and not told.get("last"):
            self._spare.append(self._process)
        else:
            self.end()
        if told is None:
            return Answer(ok=False, error="the process that sends it ended without an answer")
        error = addresses.scrubbed(str(told["error"]), self._url)
        return Answer(bool(told["ok"]), error, told["status"], told["retry_after"])

    def wait(self) -> Answer:
        while (found := self.answer()) is None:
            time.sleep(_LOOK_SECONDS)
        return found

    def end(self) -> None:
        """Leave no process behind."""
        _end(self._process)


class Errands:
    """Starts errands, and keeps the processes that are free until `rest`. Not shared between threads."""

    def __init__(self) -> None:
        self._spare: list[subprocess.Popen[bytes]] = []

    def start(self, order: Order) -> Errand:
        return Errand(order, spare=self._spare)

    def rest(self) -> None:
        """Nothing is to be carried for now: leave no process behind."""
        while self._spare:
            _end(self._spare.pop())


def service_of(url: str) -> str:
    """The name of the notification library's service for an address; "" where it has none."""
    process = _launch()
    _give(process, {"url": url, "check": True, "seconds": ATTEMPT_SECONDS})
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(ATTEMPT_SECONDS + START_SECONDS)
    told = _read(_heard(process))
    _end(process)
    return str(told["service"]) if told and told["ok"] else ""


def _launch() -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(  # noqa: S603 - our own module, no words of others
        _SENDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=settings.BASE_DIR
    )
    if process.stdout is not None:
        os.set_blocking(process.stdout.fileno(), False)
    return process


def _give(process: "subprocess.Popen[bytes]", order: dict[str, Any]) -> None:
    """Through a pipe: others on the machine can read a process's arguments. What is sent fits into the pipe."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()


def _heard(process: "subprocess.Popen[bytes]") -> bytes:
    """What the process has said since; nothing where it is silent."""
    return (process.stdout.read() if process.stdout is not None else None) or b""


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def _read(line: bytes) -> dict[str, Any] | None:
    with suppress(ValueError):
        told: dict[str, Any] = json.loads(line)
        return told
    return None
