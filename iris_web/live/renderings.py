"""Keeps one fragment current for all sockets that show it: rendered once, at most four times a second, sent to all."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404

from iris_web.live import messages
from iris_web.live.fragments import ListFragment
from iris_web.live.hello import Shown
from iris_web.live.outbox import Outbox
from iris_web.live.workshop import Workshop
from scaling.feed import FeedEvent, Position

logger = logging.getLogger(__name__)

MIN_INTERVAL_SECONDS = 0.25
# A slow fragment rests this many times as long as it took, so that it never uses more than a fifth of a thread.
_REST_FACTOR = 4
_RETRY_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0)
# More news than this is not sent as rows: the list is rendered whole.
MAX_ROW_EVENTS = 500


class Rendering:
    """One fragment with its parameters for one role. `position()` tells up to where the feed has been read.

    The first news is rendered at once; what comes sooner after that than the interval is rendered together at its end.
    """

    def __init__(self, shown: Shown, workshop: Workshop, position: Callable[[], Position]) -> None:
        self.fragment, self.key, self.topics = shown.fragment, shown.key, shown.topics
        self.sockets: set[Outbox] = set()
        self._workshop, self._position = workshop, position
        self._is_list = isinstance(shown.fragment, ListFragment)
        self._news: list[FeedEvent] = []
        self._stale = self._at_work = False
        self._wanting: set[Outbox] = set()
        self._latest: tuple[Position, str] | None = None
        self._failures = 0
        self._task: asyncio.Task[None] | None = None

    def touch(self, events: Sequence[FeedEvent]) -> None:
        """These events reached the fragment: render it, or for a list the rows they brought."""
        if self._is_list:
            self._news.extend(events)
        self._stale = True
        self._wake()

    def bring(self, outbox: Outbox, at_least: Position) -> None:
        """Send this socket the whole fragment, not older than `at_least`."""
        if self._latest is not None and not self._stale and self._latest[0] >= at_least:
            outbox.put(self._latest[1], slot=self.key.element_id)
            return
        self._wanting.add(outbox)
        self._wake()

    @property
    def behind(self) -> bool:
        """Whether news has come that is not yet in what was sent."""
        return self._stale or self._at_work or bool(self._wanting)

    def leave(self, outbox: Outbox) -> None:
        self.sockets.discard(outbox)
        self._wanting.discard(outbox)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _wake(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep_current())

    async def _keep_current(self) -> None:
        loop = asyncio.get_running_loop()
        while (self._stale or self._wanting) and self.sockets:
            started = loop.time()
            self._at_work = True
            await self._render()
            self._at_work = False
            spent = loop.time() - started
            await asyncio.sleep(max(MIN_INTERVAL_SECONDS - spent, _REST_FACTOR * spent, self._retry_pause()))
        self._task = None

    async def _render(self) -> None:
        """One pass over what is wanted now; what it could not do is wanted still."""
        asof, news, wanting = self._position(), self._news, self._wanting
        whole = not self._is_list or bool(wanting) or len(news) > MAX_ROW_EVENTS
        self._news, self._wanting, self._stale = [], set(), False
        try:
            if self._is_list and 0 < len(news) <= MAX_ROW_EVENTS:
                await self._send_rows(asof, news)
            if whole:
                await self._send_whole(asof, wanting if self._is_list and len(news) <= MAX_ROW_EVENTS else self.sockets)
        except (Http404, ObjectDoesNotExist):
            self._say(messages.fragment_state(self.key, "gone"))
        except Exception:
            self._stale, self._news, self._wanting = True, news + self._news, self._wanting | (wanting & self.sockets)
            self._fail()
        else:
            self._failures = 0

    async def _send_whole(self, asof: Position, receivers: set[Outbox]) -> None:
        content = await self._workshop.run(self.fragment.render, dict(self.key.params), self.key.role)
        text = messages.fragment(self.key, content, asof)
        if not self._is_list:
            self._latest = (asof, text)
        for outbox in receivers & self.sockets:
            outbox.put(text, slot=self.key.element_id)

    async def make_up(self, outbox: Outbox, missed: Sequence[FeedEvent]) -> None:
        """Send one socket the rows that these events brought to a list. What fails is tried again for everybody."""
        try:
            new = await self._rows(missed)
        except Exception:
            self.touch(missed)
            return
        if new:
            outbox.put_first(messages.rows(self.key, new, missed[-1].position))

    async def _send_rows(self, asof: Position, news: list[FeedEvent]) -> None:
        new = await self._rows(news)
        if new:
            self._say(messages.rows(self.key, new, asof))

    async def _rows(self, news: Sequence[FeedEvent]) -> list[tuple[str, str]]:
        if not isinstance(self.fragment, ListFragment):
            return []
        return await self._workshop.run(self.fragment.render_rows, dict(self.key.params), self.key.role, news)

    def _say(self, text: str) -> None:
        for outbox in self.sockets:
            outbox.put(text)

    def _fail(self) -> None:
        """Log the first failure in a row, tell the pages, and come back later."""
        if not self._failures:
            logger.exception("fragment failed", extra={"fragment": self.key.name, "params": dict(self.key.params)})
            self._say(messages.fragment_state(self.key, "failed"))
        self._failures += 1

    def _retry_pause(self) -> float:
        return _RETRY_SECONDS[min(self._failures, len(_RETRY_SECONDS)) - 1] if self._failures else 0.0
