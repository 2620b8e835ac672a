"""Asking the provider what it says of itself: a success is kept, a failure for a few seconds."""

from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import Any

from scaling import clock

FAILURE_SECONDS = 5.0
# How long someone waits for the answer that another is waiting for already.
BUSY_SECONDS = 2.0


class NotDiscovered(Exception):
    """Raised where the provider did not answer, now or a moment ago; the cause is what went wrong then."""


class Discovery:
    """Keeps the clients of the providers that were asked, by what they were asked with.

    Anybody may open the address that needs one: while a provider is away, one thread at a time waits for it, and
    after a failure none does for FAILURE_SECONDS.
    """

    def __init__(self, ask: Callable[..., Any]) -> None:
        """`ask` makes the client of one provider, or raises."""
        self._ask = ask
        self._lock = Lock()
        self._clients: dict[tuple[str, ...], Any] = {}
        self._failed: dict[tuple[str, ...], tuple[datetime, Exception]] = {}

    def client(self, *key: str) -> Any:
        """The client; raises NotDiscovered."""
        if key in self._clients:
            return self._clients[key]
        self._check_failure(key)
        if not self._lock.acquire(timeout=BUSY_SECONDS):
            raise NotDiscovered
        try:
            if key not in self._clients:
                self._check_failure(key)
                self._clients[key] = self._asked(key)
            return self._clients[key]
        finally:
            self._lock.release()

    def _check_failure(self, key: tuple[str, ...]) -> None:
        at, failure = self._failed.get(key, (None, None))
        if at is not None and 0 <= (clock.now() - at).total_seconds() < FAILURE_SECONDS:
            raise NotDiscovered from failure

    def _asked(self, key: tuple[str, ...]) -> Any:
        try:
            return self._ask(*key)
        except Exception as failure:
            self._failed[key] = (clock.now(), failure)
            raise NotDiscovered from failure
