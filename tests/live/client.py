"""A page as the server meets it: a websocket that says hello and gathers what it is told."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

Message = dict[str, Any]


def cookie_of(user: User) -> str:
    """The cookie header of a browser in which `user` has signed in."""
    client = Client()
    client.force_login(user)
    return f"sessionid={client.cookies['sessionid'].value}"


class LiveClient:
    """One open socket. `told` is every message so far; `closed` the close code once the server has ended it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.told: list[Message] = []
        self.closed: int | None = None
        self.reason = ""

    def hello(
        self, cursor: str | None = None, fragments: list[Message] | None = None, topics: list[str] | None = None
    ) -> Message:
        """Say what is shown; returns the answer."""
        before = len(self.of("welcome"))
        self.say({"type": "hello", "cursor": cursor, "fragments": fragments or [], "topics": topics or []})
        self.until(lambda: len(self.of("welcome")) > before)
        return self.of("welcome")[-1]

    def say(self, message: Any) -> None:
        """Send it, unless the server has ended the connection already: then `closed` says so."""
        try:
            self._connection.send(message if isinstance(message, str) else json.dumps(message))
        except ConnectionClosed as closed:
            self._end(closed)

    def of(self, kind: str) -> list[Message]:
        return [message for message in self.told if message["type"] == kind]

    def events(self) -> list[Message]:
        return [
            event for message in self.told if message["type"] in ("events", "samples") for event in message["events"]
        ]

    def numbers(self) -> list[int]:
        """The row ids of the events it got, in order."""
        return [int(event["id"].rpartition("-")[2]) for event in self.events()]

    def cursor(self) -> str:
        """Where this client would resume from."""
        return next(message["cursor"] for message in reversed(self.told) if "cursor" in message)

    def listen(self, seconds: float) -> None:
        """Gather messages for so long, or until the server ends the connection."""
        deadline = time.monotonic() + seconds
        while self.closed is None and (left := deadline - time.monotonic()) > 0:
            self._receive(left)

    def until(self, condition: Callable[[], bool], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.closed is None, f"closed with {self.closed} {self.reason}"
            assert time.monotonic() < deadline, f"it did not come; told: {self.told[-5:]}"
            self._receive(0.2)

    def until_closed(self, seconds: float = 15) -> int:
        self.listen(seconds)
        assert self.closed is not None, "the server did not end the connection"
        return self.closed

    def _receive(self, seconds: float) -> None:
        try:
            self.told.append(json.loads(self._connection.recv(timeout=seconds)))
        except TimeoutError:
            return
        except ConnectionClosed as closed:
            self._end(closed)

    def _end(self, closed: ConnectionClosed) -> None:
        self.closed = closed.rcvd.code if closed.rcvd else 1006
        self.reason = closed.rcvd.reason if closed.rcvd else ""


@contextmanager
def opened(
    url: str,
    cookie: str = "",
    origin: str | None = None,
    path: str = "/ws/live",
    headers: dict[str, str] | None = None,
    has_origin: bool = True,
    **options: Any,
) -> Iterator[LiveClient]:
    """A socket to `url` (http://host:port) from a page of that origin, or from a client that names none."""
    target = url.replace("http://", "ws://", 1) + path
    sent = (headers or {}) | ({"Cookie": cookie} if cookie else {})
    named = (origin or url) if has_origin else None
    with connect(target, origin=named, additional_headers=sent, **options) as connection:  # type: ignore[arg-type]
        yield LiveClient(connection)
