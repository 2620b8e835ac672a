"""Waits until the feed may have grown: for a hint on SQLite, for a notification on PostgreSQL, else for the clock."""

import selectors
import time
from typing import Any, Protocol

from django.db import connection

from scaling.feed.hints import Listener
from scaling.feed.publishing import CHANNEL

# Without any word from writers the feed is looked at this often.
FALLBACK_SECONDS = 1.0


class Waker(Protocol):
    """Used as: arm, read the feed, wait. What commits after `arm` ends the `wait`, or is found by the clock."""

    def arm(self) -> None: ...

    def wait(self, seconds: float, stop: int) -> None:
        """Return after a wake-up, after `seconds`, or when the descriptor `stop` is readable."""

    def close(self) -> None: ...


class HintWaker:
    """SQLite: hints from writers on this machine; by the clock, whether any other connection has committed."""

    def __init__(self) -> None:
        self._listener = Listener()
        self._version = -1

    def arm(self) -> None:
        self._version = _data_version()

    def wait(self, seconds: float, stop: int) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            woken = _readable(self._listener.fileno(), stop, seconds=min(left, FALLBACK_SECONDS))
            self._listener.drain()
            if woken or _data_version() != self._version:
                return

    def close(self) -> None:
        self._listener.close()


class NotifyWaker:
    """PostgreSQL: LISTEN on this thread's connection. Behind a pooler that drops LISTEN the clock remains."""

    def __init__(self) -> None:
        self._told = False
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {CHANNEL}")
        self._connection: Any = connection.connection
        self._connection.add_notify_handler(self._hear)

    def arm(self) -> None:
        self._told = False

    def wait(self, seconds: float, stop: int) -> None:
        # A notification can arrive with the answer of a query, before there is anything to wait for.
        if self._told:
            return
        with connection.wrap_database_errors:
            if _readable(self._connection.fileno(), stop, seconds=min(seconds, FALLBACK_SECONDS)):
                self._connection.pgconn.consume_input()
                while self._connection.pgconn.notifies():
                    pass

    def close(self) -> None:
        """The connection is the thread's own; its owner closes it."""

    def _hear(self, _notification: object) -> None:
        self._told = True


def waker() -> Waker:
    """The right one for this thread's database; raises a database error when it cannot be reached."""
    return NotifyWaker() if connection.vendor == "postgresql" else HintWaker()


def _data_version() -> int:
    """Changes whenever another connection commits to the SQLite file."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA data_version")
        return int(cursor.fetchone()[0])


def _readable(*descriptors: int, seconds: float) -> bool:
    """Whether any of them became readable in time. `select` would fail above descriptor 1024."""
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(seconds))
