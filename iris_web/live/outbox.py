"""What waits to be sent over one socket: bounded, so that a client that cannot keep up is noticed."""

import asyncio
from collections import deque
from dataclasses import dataclass

MAX_MESSAGES = 256
MAX_CHARS = 4_000_000


class LaggingError(Exception):
    """Raised by `get` when more waited than is allowed: close the socket; the client resumes from its last event."""


@dataclass(slots=True)
class _Entry:
    text: str
    slot: str
    counts: bool


class Outbox:
    """Messages in order. One with a `slot` takes the place of the waiting one of that slot: only the latest counts.

    `hold` puts what comes aside until `release`, so that what was missed can go first: that is bounded by itself and
    does not count, or a client with much to make up for would never get through.
    """

    def __init__(self, max_messages: int = MAX_MESSAGES, max_chars: int = MAX_CHARS) -> None:
        self._limits = (max_messages, max_chars)
        self._waiting: deque[_Entry] = deque()
        self._slots: dict[str, _Entry] = {}
        self._aside: list[tuple[str, str, bool]] | None = None
        self._messages = self._chars = 0
        self._filled = asyncio.Event()
        self.lagging = False

    def put(self, text: str, slot: str = "", droppable: bool = False) -> None:
        """Add a message. Above half of the limits one that is `droppable` is left out; above them all is lost."""
        if self.lagging:
            return
        if self._aside is not None:
            self._aside.append((text, slot, droppable))
            if len(self._aside) > self._limits[0]:
                self._give_up()
            return
        if not (droppable and self._is_half_full()):
            self._add(_Entry(text, slot, counts=True))

    def hold(self) -> None:
        self._aside = []

    def put_first(self, text: str) -> None:
        """Add a message ahead of those that were put aside."""
        if not self.lagging:
            self._add(_Entry(text, "", counts=False))

    def release(self) -> None:
        aside, self._aside = self._aside or [], None
        for text, slot, droppable in aside:
            self.put(text, slot, droppable)

    async def get(self) -> str:
        """The next message; waits for one. Raises LaggingError once too much waited."""
        while not self._waiting:
            if self.lagging:
                raise LaggingError
            self._filled.clear()
            await self._filled.wait()
        entry = self._waiting.popleft()
        if self._slots.get(entry.slot) is entry:
            del self._slots[entry.slot]
        if entry.counts:
            self._messages -= 1
            self._chars -= len(entry.text)
        return entry.text

    def _add(self, entry: _Entry) -> None:
        earlier = self._slots.get(entry.slot) if entry.slot else None
        if earlier is not None:
            self._chars += len(entry.text) - len(earlier.text)
            earlier.text = entry.text
            return
        self._waiting.append(entry)
        if entry.slot:
            self._slots[entry.slot] = entry
        if entry.counts:
            self._messages += 1
            self._chars += len(entry.text)
        if self._messages > self._limits[0] or self._chars > self._limits[1]:
            self._give_up()
        self._filled.set()

    def _is_half_full(self) -> bool:
        return self._messages * 2 >= self._limits[0] or self._chars * 2 >= self._limits[1]

    def _give_up(self) -> None:
        self.lagging = True
        self._waiting.clear()
        self._slots.clear()
        self._aside = None
        self._messages = self._chars = 0
        self._filled.set()
