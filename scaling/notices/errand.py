"""One message carried by a process of its own (`scaling.notices.sender`), whose time is bounded."""

import json
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
    """A message under way; `seconds` bound what the receiver may take."""

    def __init__(self, order: Order, seconds: float = ATTEMPT_SECONDS) -> None:
        words = {"title": order.title, "body": order.body, "kind": order.kind, "id": order.id}
        self._url = order.url
        self._until = time.monotonic() + seconds + START_SECONDS
        self._process = _start({**words, "url": order.url, "seconds": seconds})

    def answer(self) -> Answer | None:
        """How it was; None while it is under way."""
        if self._process.poll() is None and time.monotonic() < self._until:
            return None
        self.end()
        told = _told(self._process)
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
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()


def service_of(url: str) -> str:
    """The name of the notification library's service for an address; "" where it has none."""
    process = _start({"url": url, "check": True, "seconds": ATTEMPT_SECONDS})
    with suppress(subprocess.TimeoutExpired):
        process.wait(ATTEMPT_SECONDS + START_SECONDS)
    process.kill()
    process.wait()
    told = _told(process)
    return str(told["service"]) if told and told["ok"] else ""


def _start(order: dict[str, Any]) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(  # noqa: S603 - our own module, no words of others
        _SENDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=settings.BASE_DIR
    )
    # Through a pipe: others on the machine can read a process's arguments. What is sent fits into the pipe.
    with suppress(OSError):
        if process.stdin is not None:
            with process.stdin as pipe:
                pipe.write(json.dumps(order).encode())
    return process


def _told(process: "subprocess.Popen[bytes]") -> dict[str, Any] | None:
    if process.stdout is None:
        return None
    with process.stdout as pipe, suppress(ValueError):
        told: dict[str, Any] = json.loads(pipe.read())
        return told
    return None
