"""The websocket `/ws/live`: who may open it, what a client says, what it is sent, and how it ends."""

import asyncio
import logging
from contextlib import suppress

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import Error as DatabaseError

from iris_web.live import hello
from iris_web.live.audience import Socket
from iris_web.live.hub import Hub, hub
from iris_web.live.messages import CloseCode
from iris_web.live.outbox import LaggingError
from iris_web.live.vouching import named_by_proxy

logger = logging.getLogger(__name__)

# What the server raises when the client has left, or is leaving, already.
_GONE = (OSError, RuntimeError)
# A close frame holds 123 bytes of reason.
_REASON_CHARS = 120


class LiveConsumer(AsyncWebsocketConsumer):
    """One socket. It is accepted before a refusal, because a browser is only told the reason of an accepted one."""

    socket: Socket | None = None
    hub: Hub
    sender: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        self.hub = hub()
        with self.hub.visited():
            await self.accept()
            await self._admit(self.scope["cookies"].get(settings.SESSION_COOKIE_NAME, ""))

    async def _admit(self, session_key: str) -> None:
        try:
            named = named_by_proxy(self.scope)
            access = await self.hub.access_at_the_door(session_key, named) if session_key else None
        except DatabaseError:
            await self._close(CloseCode.TRY_AGAIN, "the database is away")
            return
        if access is None:
            await self._close(CloseCode.SIGNED_OUT, "sign in first")
            return
        self.socket = Socket(session_key, access, self.end)
        self.hub.join(self.socket)
        self.sender = asyncio.create_task(self._send_all(self.socket))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A hello. It may come again when the page shows something else than before."""
        if self.socket is None:
            return
        if text_data is None or bytes_data is not None or len(text_data) > hello.MAX_CHARS:
            self.end(CloseCode.TOO_LARGE, f"expected a text of at most {hello.MAX_CHARS} characters")
            return
        try:
            await self.hub.follow(self.socket, hello.read(text_data, self.socket.access.role))
        except hello.MalformedError as malformed:
            self.end(CloseCode.MALFORMED, str(malformed))
        except DatabaseError:
            self.end(CloseCode.TRY_AGAIN, "the database is away")
        except Exception:
            logger.exception("live hello failed")
            self.end(CloseCode.TRY_AGAIN, "something went wrong")

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - why the client left does not matter
        self._part()

    def end(self, code: CloseCode, reason: str) -> None:
        """Close from the server's side, whatever is waiting to be sent."""
        if self.socket is not None:
            self._part()
            self.sender = asyncio.create_task(self._close(code, reason))

    def _part(self) -> None:
        if self.socket is not None:
            self.hub.leave(self.socket)
            self.socket = None
        if self.sender is not None and self.sender is not asyncio.current_task():
            self.sender.cancel()

    async def _send_all(self, socket: Socket) -> None:
        try:
            while True:
                await self.send(text_data=await socket.outbox.get())
        except LaggingError:
            self.end(CloseCode.TRY_AGAIN, "too slow")
        except _GONE:
            self._part()

    async def _close(self, code: CloseCode, reason: str) -> None:
        with suppress(*_GONE):
            await self.close(code, reason[:_REASON_CHARS])
