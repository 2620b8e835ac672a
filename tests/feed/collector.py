"""A tail whose events are gathered in lists, for tests that ask what a reader got."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaling.feed import FeedEvent, Listening, Position, Tail


class Collector:
    """What one reader was told, in order."""

    def __init__(self) -> None:
        self.events: list[FeedEvent] = []
        self.starts: list[Position] = []
        self.states: list[str] = []
        self.arrived: dict[int, float] = {}

    def ids(self) -> list[int]:
        return [event.position.id for event in self.events]

    def take(self, events: list[FeedEvent]) -> None:
        now = time.monotonic()
        self.events.extend(events)
        self.arrived |= {event.position.id: now for event in events}

    @contextmanager
    def following(self) -> Iterator["Collector"]:
        tail = Tail(
            Listening(
                started=self.starts.append,
                events=self.take,
                away=lambda _reason: self.states.append("away"),
                back=lambda: self.states.append("back"),
            )
        )
        tail.start()
        try:
            until(lambda: bool(self.starts))
            yield self
        finally:
            tail.stop()


def until(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    """Wait for `condition`; fails the test when it does not come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
