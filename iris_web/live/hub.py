"""The meeting point of one web process: one tail of the feed in, all its sockets out.

Lives in the event loop; the tail and all database work run in threads. It begins with the first socket and ends a while
after the last.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from django.db import Error as DatabaseError

from iris_web.live import messages
from iris_web.live.audience import Audience, Socket, event_messages
from iris_web.live.hello import Hello, Shown
from iris_web.live.missed import Missed, what_was_missed
from iris_web.live.renderings import Rendering
from iris_web.live.sessions import Access, access_at_the_door, access_of
from iris_web.live.workshop import Workshop
from scaling import clock
from scaling.feed import FeedEvent, Listening, Position, Tail

logger = logging.getLogger(__name__)

THREADS = 2
# How often each socket gets a sign of life, and each session is asked for again: a log-out ends its sockets within it.
TICK_SECONDS = 5.0
# Without sockets the tail goes on for this long: people move from page to page.
LINGER_SECONDS = 20.0
# A tail that has not looked for so long is stuck; the pages are told.
STUCK_SECONDS = 10.0


class Hub:
    """Made and called in the event loop it serves."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._audience = Audience(self._render)
        self._workshop = Workshop("live-hub", THREADS)
        self._position = Position(0, 0)
        self._started = asyncio.Event()
        self._away = self._told_away = False
        self._alone_since = time.monotonic()
        self._visitors = 0
        self.ended = False
        self._tail = self._make_tail()
        self._tail.start()
        self._life = asyncio.create_task(self._live())

    @contextmanager
    def visited(self) -> Iterator[None]:
        """The hub does not end while somebody is at the door."""
        self._visitors += 1
        try:
            yield
        finally:
            self._visitors -= 1
            self._alone_since = time.monotonic()

    def join(self, socket: Socket) -> None:
        self._audience.sockets.add(socket)
        if self._told_away:
            socket.outbox.put(messages.state(reachable=False))

    def leave(self, socket: Socket) -> None:
        self._audience.leave(socket)
        self._alone_since = time.monotonic()

    async def access_of(self, session_key: str) -> Access | None:
        """The access that a session gives now; raises a database error when that cannot be asked."""
        return await self._workshop.run(access_of, session_key)

    async def access_at_the_door(self, session_key: str, named: str) -> Access | None:
        """The same for a socket that is being opened, in a request in which the trusted proxy names someone, or ""."""
        return await self._workshop.run(access_at_the_door, session_key, named)

    async def follow(self, socket: Socket, hello: Hello) -> None:
        """Serve what the hello asks for: first what was missed, and from here on everything new.

        The socket is entered before the past is read, and what comes meanwhile waits: nothing falls between the two,
        and nothing comes twice.
        """
        await self._started.wait()
        here = self._position
        cursor = hello.cursor if socket.through is None else max(here, socket.through)
        socket.through = here if cursor is None else max(here, cursor)
        socket.outbox.hold()
        self._audience.enter(socket, hello)
        try:
            missed = await self._workshop.run(what_was_missed, cursor, hello, here)
            await self._make_up(socket, hello.refusals, missed, here)
        finally:
            socket.outbox.release()

    async def _make_up(self, socket: Socket, refusals: Iterable[str], missed: Missed, here: Position) -> None:
        if missed.resync:
            socket.through = here
        outbox = socket.outbox
        for text, _ in event_messages(missed.events):
            outbox.put_first(text)
        # Only now: a client that is cut off before this resumes from the last event it got.
        outbox.put_first(messages.welcome(socket.through or here, missed.resync))
        for reason in refusals:
            outbox.put_first(messages.refused(reason))
        for key, rendering in list(socket.renderings.items()):
            if missed.resync or key in missed.whole:
                rendering.bring(outbox, here)
            elif key in missed.rows:
                await rendering.make_up(outbox, missed.rows[key])

    def _render(self, shown: Shown) -> Rendering:
        return Rendering(shown, self._workshop, lambda: self._position)

    def _make_tail(self) -> Tail:
        def in_loop(act: Callable[..., None]) -> Callable[..., None]:
            return lambda *given: self._call(act, *given)

        return Tail(
            Listening(
                started=in_loop(self._begin),
                events=in_loop(self._deliver),
                away=in_loop(lambda _reason: self._set_away(True)),
                back=in_loop(lambda: self._set_away(False)),
            )
        )

    def _call(self, act: Callable[..., None], *given: object) -> None:
        """Have the loop do it; called by the tail's thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(act, *given)

    def _begin(self, position: Position) -> None:
        """The tail stands at `position`. If not for the first time, there may be events before it that nobody got."""
        again = self._started.is_set()
        self._position = position
        self._started.set()
        if not again:
            return
        for socket in self._audience.sockets:
            if socket.through is not None:
                socket.through = position
                socket.outbox.put(messages.resync(position))
                for rendering in socket.renderings.values():
                    rendering.bring(socket.outbox, position)

    def _deliver(self, events: list[FeedEvent]) -> None:
        self._position = events[-1].position
        self._audience.deliver(events)

    def _set_away(self, away: bool) -> None:
        self._away = away
        self._tell_state()

    def _tell_state(self) -> None:
        """Say it when the server itself stops or starts again to get news."""
        away = self._away or time.monotonic() - self._tail.looked_at > STUCK_SECONDS
        if away != self._told_away:
            self._told_away = away
            self._audience.say(messages.state(reachable=not away))

    async def _live(self) -> None:
        try:
            while self._is_wanted():
                await asyncio.sleep(TICK_SECONDS)
                await self._look_after()
            self.ended = True
            await asyncio.to_thread(self._stop)
        except asyncio.CancelledError:
            self.ended = True
            self._stop()
            raise

    async def _look_after(self) -> None:
        """What is due every few seconds. An error is logged: the next round comes all the same."""
        try:
            self._tell_state()
            if not self._told_away:
                self._tick()
                await self._recheck()
        except Exception:
            logger.exception("live round failed")

    def _is_wanted(self) -> bool:
        lingering = time.monotonic() - self._alone_since < LINGER_SECONDS
        return bool(self._audience.sockets) or self._visitors > 0 or lingering

    def _stop(self) -> None:
        self._tail.stop(timeout_seconds=0.5)
        self._workshop.stop(timeout_seconds=0.5)

    def _tick(self) -> None:
        now = clock.now()
        for socket in self._audience.sockets:
            if socket.through is not None:
                behind = [key.element_id for key, one in socket.renderings.items() if one.behind]
                socket.outbox.put(messages.tick(max(self._position, socket.through), behind, now))

    async def _recheck(self) -> None:
        """End the sockets whose session ended or whose access is another one than when they opened."""
        for session_key in {socket.session_key for socket in self._audience.sockets}:
            try:
                access = await self.access_of(session_key)
            except DatabaseError:
                return
            for socket in [one for one in self._audience.sockets if one.session_key == session_key]:
                if access is None:
                    socket.end(messages.CloseCode.SIGNED_OUT, "your session has ended")
                elif access != socket.access:
                    socket.end(messages.CloseCode.CHANGED_ACCESS, "what you may do has changed")


_hubs: "WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]" = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop; made when there is none."""
    loop = asyncio.get_running_loop()
    found = _hubs.get(loop)
    if found is None or found.ended:
        found = _hubs[loop] = Hub()
    return found
