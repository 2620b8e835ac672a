"""A server on a real socket whose every byte a test decides."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Handler = Callable[["Request", socket.socket], None]


@dataclass
class Request:
    """One request as it came; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """Its address, and every request it got; `end` lets a handler that waits go on."""

    address: str
    requests: list[Request] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    connections: int = 0


def answer(
    body: object,
    status: int = 200,
    *,
    headers: tuple[str, ...] = (),
    length: int | None = None,
    raw: bytes | None = None,
) -> bytes:
    """A whole HTTP answer; `length` lies about the body's."""
    content = json.dumps(body).encode() if raw is None else raw
    declared = len(content) if length is None else length
    head = [f"HTTP/1.1 {status} Status", "Content-Type: application/json", f"Content-Length: {declared}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + content


def always(content: bytes) -> Handler:
    """Answer every request with this."""
    return lambda _request, connection: connection.sendall(content)


@contextmanager
def serving(handler: Handler) -> Iterator[Server]:
    """A server that answers each connection on a thread of its own, with keep-alive."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(f"http://127.0.0.1:{listening.getsockname()[1]}")
    threading.Thread(target=_accept, args=(listening, server, handler), daemon=True).start()
    try:
        yield server
    finally:
        server.ended.set()
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def _accept(listening: socket.socket, server: Server, handler: Handler) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            server.connections += 1
            threading.Thread(target=_serve, args=(connection, server, handler), daemon=True).start()


def _serve(connection: socket.socket, server: Server, handler: Handler) -> None:
    with suppress(OSError), connection, connection.makefile("rb") as reader:
        while line := reader.readline():
            method, path, _ = line.decode().split()
            headers = {}
            while (header := reader.readline().decode().strip()) != "":
                name, _, value = header.partition(":")
                headers[name.lower()] = value.strip()
            request = Request(method, path, headers, reader.read(int(headers.get("content-length", 0))))
            server.requests.append(request)
            handler(request, connection)
