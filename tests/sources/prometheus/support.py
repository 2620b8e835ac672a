"""A tiny server that answers the query API as a test says, and short ways to write what it says."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from scaling.replicas.decide import decide
from scaling.replicas.decision import Decision
from scaling.replicas.deployment import Deployment
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricsReading
from scaling.replicas.replica import Replica
from scaling.sources.prometheus import MetricsAnswer, PrometheusSettings, PrometheusSource

NOW = 1_800_000_000.0

Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Asked:
    """One request: its parameters from the URL and the body together."""

    method: str
    path: str
    parameters: dict[str, str]
    authorization: str

    @property
    def query(self) -> str:
        return self.parameters.get("query", "")

    @property
    def is_p95(self) -> bool:
        return "histogram_quantile" in self.query

    @property
    def is_whole(self) -> bool:
        return "{" not in self.query


@dataclass
class Scripted:
    """A running server: `answer` may be replaced at any time; `connections` were accepted, `closed` of them are."""

    answer: Callable[[Asked], Reply]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    closed: int = 0


@contextmanager
def scripted(answer: Callable[[Asked], Reply], tls: ssl.SSLContext | None = None) -> Iterator[Scripted]:
    script = Scripted(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            script.connections += 1

        def finish(self) -> None:
            script.closed += 1
            super().finish()

        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(size).decode()
            parts = urlsplit(self.path)
            parameters = dict(parse_qsl(parts.query) + parse_qsl(body))
            asked = Asked(self.command, parts.path, parameters, self.headers.get("Authorization", ""))
            script.asked.append(asked)
            script.answer(asked)(self)

        do_POST = do_GET

        def log_message(self, *_arguments: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_arguments: object) -> None:
            """A client that has hung up is no news."""

    with Server(("127.0.0.1", 0), Handler) as server:
        script.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield script
        server.shutdown()


def says(body: object, status: int = 200, content_type: str = "application/json", **headers: str) -> Reply:
    """A body (JSON unless it is text or bytes) with its right length."""
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(raw)

    return reply


def refuses(status: int, error: str = "no such thing") -> Reply:
    return says({"status": "error", "errorType": "bad", "error": error}, status)


def cuts_off(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"status": "success", "data"')
    handler.close_connection = True


def resets(handler: BaseHTTPRequestHandler) -> None:
    """Drops the connection without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def is_silent(handler: BaseHTTPRequestHandler) -> None:
    """Says nothing until the client has gone."""
    handler.connection.recv(1)


def drips_body(handler: BaseHTTPRequestHandler) -> None:
    """A byte of the body now and then, without end."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.05)


def drips_headers(handler: BaseHTTPRequestHandler) -> None:
    """A byte of a header now and then, without end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.05)


def series(deployment_id: str, value: object = "1", at: object = NOW, label: str = "deployment_id") -> dict[str, Any]:
    return {"metric": {label: deployment_id}, "value": [at, value]}


def vector(*of: object, **more: object) -> dict[str, Any]:
    """A good answer of these series; `more` goes beside the data."""
    return {"status": "success", "data": {"resultType": "vector", "result": list(of)}, **more}


def both(p95: object, rps: object) -> Callable[[Asked], Reply]:
    """One body for each of the two queries."""
    return lambda asked: says(p95 if asked.is_p95 else rps)


def always(reply: Reply) -> Callable[[Asked], Reply]:
    return lambda _asked: reply


def read(url: str, ids: Collection[str] = ("d1",), deadline: float = 5, **changes: Any) -> MetricsAnswer:
    """One read with a source of its own."""
    with PrometheusSource(PrometheusSettings(url, **changes)) as source:
        return source.read(ids, NOW, deadline)


def ids(count: int) -> list[str]:
    return [f"d{number}" for number in range(1, count + 1)]


def four_healthy(now: float) -> list[Replica]:
    return [Replica(f"r{n}", healthy=True, created=now - 90_000 + n, last_health_check=now - 1) for n in range(1, 5)]


def decided(reading: MetricsReading, now: float = NOW, **changes: Any) -> Decision:
    """What is decided for four healthy replicas of 1 to 10, with a drained window: nothing but the metrics holds it."""
    base: dict[str, Any] = {"target_latency_p95_ms": 500, "target_rps": 10, "last_request_at": now - 1}
    deployment = Deployment("d1", min_replicas=1, max_replicas=10, **base | changes)
    memory = ScalerMemory(window=(), first_healthy_at=now - 7200)
    return decide(deployment, four_healthy(now), reading, memory, now)
