"""Refuses bodies that are too large while they arrive, and large ones of strangers, before anything stores them.

Django's ASGI handler reads a whole body to disk before a view can look at it; so the limit stands in front of it, by
the declared length at once and by counting the bytes of a body that declares none. So does the question whose token it
is, where a body of the API may be large; the view asks again, and what the token may do.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from channels.db import database_sync_to_async

from iris_web.api.callers import prove
from iris_web.api.problems import CONTENT_TYPE, Problem, problem_of, too_large
from iris_web.api.routes import MIB, USUAL_BYTES
from iris_web.api.table import DEMAND_BYTES

Scope = dict[str, Any]
Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# A client that is still sending hears the answer only if its bytes are taken off the line: that many, that long.
DISCARD_BYTES = 256 * 1024 * 1024
DISCARD_SECONDS = 10.0
# Forms are small.
FORM_BYTES = 1 * MIB


def limit_of(path: str) -> int:
    """The bytes that an address takes."""
    if path.startswith("/api/v1/demand/"):
        return DEMAND_BYTES
    return USUAL_BYTES if path.startswith("/api/v1/") else FORM_BYTES


class _TooLargeError(Exception):
    """More bytes have come than the address takes."""


class BodyLimit:
    """ASGI application in front of another one."""

    def __init__(self, app: App, limit: Callable[[str], int] = limit_of) -> None:
        self._app = app
        self._limit_of = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit_of(scope["path"])
        declared = _declared_length(scope)
        if declared > limit:
            await _refuse(too_large(limit, declared), receive, send)
            return
        stranger = await _stranger(scope)
        if stranger is not None:
            await _refuse(stranger, receive, send)
            return
        try:
            await self._app(scope, _counted(receive, limit), send)
        except _TooLargeError:
            await _refuse(too_large(limit), receive, send)


async def _stranger(scope: Scope) -> Problem | None:
    """Why a large body of the API is not read: the 401 of a token that is missing or unknown."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"")
    # Such a body stays in memory: it is not worth a look at its token before it is read.
    is_small = b"transfer-encoding" not in headers and (not length or _declared_length(scope) <= USUAL_BYTES)
    if not scope["path"].startswith("/api/v1/") or is_small:
        return None
    authorization = headers.get(b"authorization", b"").decode("latin-1")
    refusal: Problem | None = await database_sync_to_async(_refusal)(authorization)
    return refusal


def _refusal(authorization: str) -> Problem | None:
    try:
        prove(authorization)
    except Exception as error:
        return problem_of(error)
    return None


def _declared_length(scope: Scope) -> int:
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 20 else 0


def _counted(receive: Receive, limit: int) -> Receive:
    """`receive`, until more than `limit` bytes have come."""
    taken = 0

    async def counting() -> Event:
        nonlocal taken
        event = await receive()
        if event["type"] == "http.request":
            taken += len(event.get("body", b""))
            if taken > limit:
                raise _TooLargeError
        return event

    return counting


async def _refuse(problem: Problem, receive: Receive, send: Send) -> None:
    """Answer now, then let the client finish talking for a while, so that it reads the answer."""
    body = json.dumps(problem.content()).encode()
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
    ]
    told = problem.headers | {"Connection": "close"}
    headers += [(name.lower().encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers, "trailers": False})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            await _discard(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _discard(receive: Receive) -> None:
    taken = 0
    while taken <= DISCARD_BYTES:
        event = await receive()
        if event["type"] != "http.request" or not event.get("more_body"):
            return
        taken += len(event.get("body", b""))
