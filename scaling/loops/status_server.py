"""Health, readiness and metrics of a control-plane process that serves no pages (LYC_HTTP_ADDR).

They are the site's own views, asked through Django's WSGI handler; every other path is answered with 404. An address
that another program has is told and costs nothing but these answers: the loops do not depend on them.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections

logger = logging.getLogger(__name__)

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})

# Each answer may hold a connection to the database, of which a server has a hundred or so for everybody.
MOST_AT_ONCE = 8
# So long a request that is refused may take to arrive: one that is not read is answered with a reset connection.
REFUSING_SECONDS = 0.1
BUSY = (
    b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    b"busy with other requests\n"
)

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for the request, or a 503 while there are as many as there may be."""
        if not self._free.acquire(blocking=False):
            self._refuse(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self._free.release()
            self._refuse(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """A connection is its thread's own, and Django keeps it open for a next request that this thread never gets."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            connections.close_all()
            self._free.release()

    def _refuse(self, request: Any) -> None:
        with suppress(OSError):
            request.settimeout(REFUSING_SECONDS)
            request.recv(65_536)
            request.sendall(BUSY)
        self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Quiet(WSGIRequestHandler):
    timeout = 10

    def log_message(self, format: str, *args: Any) -> None:
        """One line for every scrape would drown the log."""


@contextmanager
def serving(address: tuple[str, int] | None) -> Iterator[int]:
    """Serve at (host, port) for the block; yields the port, 0 where nothing is served."""
    server = _open(address) if address else None
    if server is None:
        yield 0
        return
    threading.Thread(target=server.serve_forever, name="status", daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _open(address: tuple[str, int]) -> WSGIServer | None:
    try:
        return make_server(*address, _only_status(WSGIHandler()), _Server, _Quiet)
    except OSError as error:
        logger.warning(
            "status is not served: the address cannot be used",
            extra={"setting": "LYC_HTTP_ADDR", "address": f"{address[0]}:{address[1]}", "error": error.strerror},
        )
        return None


def _only_status(site: Callable[[Environ, StartResponse], Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") not in PATHS:
            start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"expected /healthz, /readyz or /metrics\n"]
        # Asked by an address, inside the network and without TLS: neither the site's names nor its redirect apply.
        environ["HTTP_HOST"] = _a_name_of_the_site()
        environ["wsgi.url_scheme"] = "https"
        return site(environ, start_response)

    return answer


def _a_name_of_the_site() -> str:
    name = next((host for host in settings.ALLOWED_HOSTS if host != "*"), "localhost")
    return name.lstrip(".")
