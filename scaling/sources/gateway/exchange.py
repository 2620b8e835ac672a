"""One call over HTTP: within its deadline as a whole, however slowly the answer drips, and within a size."""

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx

from scaling.sources.gateway.settings import GatewaySettings

# Shorter than servers keep an idle connection (5 s is common): one that is closed while a call goes out on it would
# leave in doubt whether the call was made.
KEEPALIVE_SECONDS = 4.0
SENDING = ".send_request_headers.started"


class BodyTooLarge(Exception):
    """More than the largest body that is read."""


@dataclass(slots=True)
class Progress:
    """How far a call came, kept also when it fails: whether any of it was sent, and the status once there is one."""

    sent: bool = False
    status: int | None = None

    async def trace(self, event: str, _details: dict[str, Any]) -> None:
        self.sent = self.sent or event.endswith(SENDING)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: httpx.Headers
    body: bytes


def new_client(settings: GatewaySettings) -> httpx.AsyncClient:
    """The one pool of connections; redirects are not followed, for the token is for this Gateway alone."""
    limits = httpx.Limits(
        max_connections=settings.max_concurrent,
        max_keepalive_connections=settings.max_concurrent,
        keepalive_expiry=KEEPALIVE_SECONDS,
    )
    return httpx.AsyncClient(
        headers={
            "Authorization": f"Bearer {settings.token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "iris",
        },
        limits=limits,
        timeout=settings.timeout_seconds,
    )


async def exchange(
    client: httpx.AsyncClient, request: httpx.Request, deadline: float, largest: int, progress: Progress
) -> Reply:
    """Send and read the whole answer until `deadline` (the running loop's time).

    Raises TimeoutError past it, BodyTooLarge, and whatever httpx raises for the connection.
    """
    request.extensions["trace"] = progress.trace
    async with asyncio.timeout_at(deadline):
        response = await client.send(request, stream=True)
        try:
            progress.status = response.status_code
            return Reply(response.status_code, response.headers, await _body(response, largest))
        finally:
            await response.aclose()


async def _body(response: httpx.Response, largest: int) -> bytes:
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > largest:
        raise BodyTooLarge
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > largest:
            raise BodyTooLarge
    return bytes(body)
