"""HTTP that can be ended from outside and whose answers have a largest size.

Time-outs of a socket bound each wait, not their sum: a server that sends a byte a second never runs into one. So each
call tells which socket it uses, and whoever waits for it shuts that socket when the time is over.
"""

import io
import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import cached_property
from threading import Event, Lock
from typing import Any
from urllib.parse import urlencode

import orjson
import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.retry import Retry

LARGEST_ANSWER_BYTES = 32 * 1024 * 1024
LONGEST_URL_QUERY = 4000
CHUNK_BYTES = 64 * 1024


class AnswerTooLargeError(Exception):
    """An answer of more than LARGEST_ANSWER_BYTES, which was not read to its end."""


class WholeAnswer(requests.Response):
    """An answer that has been read to its end; its JSON is parsed once, and None where there is none.

    (Cut off, HTML, nested beyond reason.)
    """

    def __init__(self, answer: requests.Response, body: bytes) -> None:
        super().__init__()
        self.status_code = answer.status_code
        self.reason = answer.reason
        self.headers = answer.headers
        self.raw = io.BytesIO(body)

    @cached_property
    def parsed(self) -> Any:
        with suppress(ValueError):
            return orjson.loads(self.content)
        # Slower, and takes what strict JSON has not, such as numbers that are none.
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return None

    def json(self, **_options: Any) -> Any:
        return self.parsed


class Call:
    """One HTTP call as its waiter sees it: `connected` once a connection stood, `answer` once it was read whole."""

    def __init__(self) -> None:
        self.connected = False
        self.answer: WholeAnswer | None = None
        self.failure: Exception | None = None
        self.done = Event()
        self._expired = False
        self._socket: socket.socket | None = None
        self._lock = Lock()

    def uses(self, used: socket.socket | None) -> None:
        """From now on this socket is the call's; None gives it back, for it serves another call next."""
        with self._lock:
            self.connected = self.connected or used is not None
            self._socket = used
            if self._expired:
                self._shut()

    def expire(self) -> None:
        """End the call now, whatever it waits for."""
        with self._lock:
            self._expired = True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                # Not SSLSocket's own: that would take the TLS state away under the thread that reads.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


CALL: ContextVar[Call | None] = ContextVar("prometheus_call", default=None)
"""The call that this thread makes."""


class _WatchedConnection(HTTPConnection):
    def getresponse(self) -> Any:
        if (call := CALL.get()) is not None:
            call.uses(self.sock)
        return super().getresponse()


class _WatchedTlsConnection(_WatchedConnection, HTTPSConnection):
    pass


class _WatchedPool(HTTPConnectionPool):
    ConnectionCls = _WatchedConnection


class _WatchedTlsPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTlsConnection


POOLS: Mapping[str, type[HTTPConnectionPool]] = {"http": _WatchedPool, "https": _WatchedTlsPool}


class WatchedAdapter(HTTPAdapter):
    """Connections that are watched, and nothing tried twice: a retry would spend the tick's time unseen."""

    def __init__(self) -> None:
        super().__init__(max_retries=Retry(total=0, read=False))

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = dict(POOLS)

    def close(self) -> None:
        """Close the connections at rest now: the library leaves that to the collector of garbage, which may be late."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - no mapping to walk: its keys() is a copy under its lock
                if (pool := manager.pools.get(key)) is not None:
                    pool.close()
        super().close()

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = dict(POOLS)
        return manager


class WatchedSession(requests.Session):
    """A session whose answers are read whole, up to a size; redirects are answers like others.

    One pool of connections, safe to use from several threads. A question too long for a URL goes into the body of a
    POST, as the query API allows.
    """

    def __init__(self) -> None:
        super().__init__()
        for scheme in ("http://", "https://"):
            self.mount(scheme, WatchedAdapter())

    def request(self, method: str, url: str | bytes, *args: Any, **options: Any) -> requests.Response:
        if len(urlencode(options.get("params") or {})) > LONGEST_URL_QUERY:
            method, options["data"] = "POST", options.pop("params")
        options |= {"stream": True, "allow_redirects": False}
        call = CALL.get()
        try:
            with super().request(method, url, *args, **options) as answer:
                whole = WholeAnswer(answer, _body(answer))
        finally:
            if call is not None:
                call.uses(None)
        if call is not None:
            call.answer = whole
        return whole


def _body(answer: requests.Response) -> bytes:
    """All of a good answer; of another its first chunk, which says enough."""
    body = bytearray()
    for chunk in answer.iter_content(CHUNK_BYTES):
        body += chunk
        if answer.status_code != 200:
            break
        if len(body) > LARGEST_ANSWER_BYTES:
            raise AnswerTooLargeError
    return bytes(body)
