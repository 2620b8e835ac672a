"""A body that is too large is refused while it arrives, by a real server, and the client hears why."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from iris_web.body_limit import BodyLimit, limit_of
from scaling import operations
from scaling.history import Actor
from scaling.models import Job
from tests.services.stack import LiveStack

MIB = 1024 * 1024
SENTENCE = "the body is too large: expected at most 33,554,432 bytes (32 MiB) here, got "


@pytest.fixture
def secret(live_stack: LiveStack) -> str:
    return operations.create_token(Actor.user("root"), "slurm", "scheduler", "slurm")[1]


def _connection(stack: LiveStack) -> http.client.HTTPConnection:
    address = urlsplit(stack.url)
    assert address.hostname
    return http.client.HTTPConnection(address.hostname, address.port, timeout=30)


def _headers(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}


def _chunks(total: int) -> Iterator[bytes]:
    block = b" " * MIB
    for _ in range(total // MIB):
        yield block


def _told(answer: http.client.HTTPResponse) -> tuple[int, str]:
    return answer.status, json.loads(answer.read())["detail"]


@pytest.mark.django_db(transaction=True)
def test_a_100_mb_body_that_says_so_is_refused_unread(live_stack: LiveStack, secret: str) -> None:
    address = urlsplit(live_stack.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as line:
        head = f"PUT /api/v1/demand/slurm HTTP/1.1\r\nHost: localhost\r\nContent-Length: {100 * MIB}\r\n\r\n"
        line.sendall(head.encode())
        answer = line.recv(65_536)
        while SENTENCE.encode() not in answer:
            answer += line.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.django_db(transaction=True)
def test_a_client_that_sends_100_mb_hears_why_it_was_refused(live_stack: LiveStack, secret: str) -> None:
    connection = _connection(live_stack)
    connection.request("PUT", "/api/v1/demand/slurm", b"[" + b" " * (100 * MIB), _headers(secret))
    assert _told(connection.getresponse()) == (413, f"{SENTENCE}104,857,601")


@pytest.mark.django_db(transaction=True)
def test_a_100_mb_stream_of_unknown_length_is_refused_too(live_stack: LiveStack, secret: str) -> None:
    connection = _connection(live_stack)
    connection.request("PUT", "/api/v1/demand/slurm", _chunks(100 * MIB), _headers(secret), encode_chunked=True)
    assert _told(connection.getresponse()) == (413, f"{SENTENCE}more")
    assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_stream_within_the_limit_is_read(live_stack: LiveStack, secret: str) -> None:
    connection = _connection(live_stack)
    body = iter([b'{"jobs": [', b" " * (2 * MIB), b'{"id": "a"}]}'])
    connection.request("PUT", "/api/v1/demand/slurm", body, _headers(secret), encode_chunked=True)
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["added"]) == (200, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("token", ["", "Bearer iris_0123456789ab_wrong", "Basic eDp5"])
@pytest.mark.parametrize("chunked", [True, False])
def test_a_large_body_of_a_stranger_is_refused_before_it_is_stored(
    live_stack: LiveStack, token: str, chunked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stored(*_: object) -> None:
        raise AssertionError("the body was read")

    monkeypatch.setattr("django.core.handlers.asgi.ASGIHandler.read_body", stored)
    connection = _connection(live_stack)
    body = _chunks(8 * MIB) if chunked else b" " * (8 * MIB)
    headers = {"Authorization": token} if token else {}
    connection.request("PUT", "/api/v1/demand/slurm", body, headers, encode_chunked=chunked)
    answer = connection.getresponse()
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="iris"')
    status, sentence = _told(answer)
    assert status == 401
    assert "token" in sentence


@pytest.mark.django_db(transaction=True)
def test_the_server_answers_others_after_a_flood(live_stack: LiveStack, secret: str) -> None:
    for _ in range(3):
        connection = _connection(live_stack)
        connection.request("PUT", "/api/v1/demand/slurm", _chunks(40 * MIB), _headers(secret), encode_chunked=True)
        connection.getresponse().read()
    healthy = _connection(live_stack)
    healthy.request("GET", "/healthz")
    assert healthy.getresponse().status == 200


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/api/v1/demand/slurm", 32 * MIB), ("/api/v1/groups/g/drain", MIB // 16), ("/login/", MIB), ("/", MIB)],
)
def test_only_demand_may_be_large(path: str, limit: int) -> None:
    assert limit_of(path) == limit


class _Line:
    """A client's side of one request: the pieces it sends, and what it is sent."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)
        self.taken = 0
        self.sent: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        if not self.pieces:
            return {"type": "http.disconnect"}
        self.taken += 1
        return {"type": "http.request", "body": self.pieces.pop(0), "more_body": bool(self.pieces)}

    async def send(self, event: Any) -> None:
        self.sent.append(event)

    def status(self) -> int:
        return int(self.sent[0]["status"])


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """Reads everything, then answers 200."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(
    ("pieces", "headers", "status"),
    [
        ([b"x" * 10], [], 200),
        ([b"x" * 6, b"x" * 4], [], 200),
        ([b"x" * 6, b"x" * 5], [], 413),
        ([b"x" * 10], [(b"content-length", b"10")], 200),
        ([b"x" * 11], [(b"content-length", b"11")], 413),
        ([b"x"], [(b"content-length", b"junk")], 200),
        ([b"x"], [(b"content-length", b"9" * 30)], 200),
        ([b"x"] * 11, [(b"content-length", b"1")], 413),
    ],
)
def test_the_limit_is_exact_and_a_lie_about_the_length_does_not_help(
    pieces: list[bytes], headers: list[tuple[bytes, bytes]], status: int
) -> None:
    line = _Line(*pieces)
    scope = {"type": "http", "path": "/x", "headers": headers}
    asyncio.run(BodyLimit(_echo, lambda _path: 10)(scope, line.receive, line.send))
    assert line.status() == status


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/v1/groups", [], 200),
        ("/api/v1/demand/slurm", [(b"content-length", b"65536")], 200),
        ("/api/v1/demand/slurm", [(b"content-length", b"65537")], 401),
        ("/api/v1/demand/slurm", [(b"transfer-encoding", b"chunked")], 401),
        ("/login/", [(b"content-length", b"65537")], 200),
    ],
)
def test_only_bodies_of_the_api_that_may_be_large_need_a_token_before_they_are_read(
    path: str, headers: list[tuple[bytes, bytes]], status: int
) -> None:
    line = _Line(b"x")
    asyncio.run(BodyLimit(_echo)({"type": "http", "path": path, "headers": headers}, line.receive, line.send))
    assert line.status() == status


def test_a_socket_passes_untouched() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    line = _Line()
    asyncio.run(BodyLimit(app)({"type": "websocket", "path": "/ws/live"}, line.receive, line.send))
    assert seen == ["websocket"]
