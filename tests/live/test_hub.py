"""The hub through trouble: a database that is away, a feed that was replaced, and its own end."""

import threading
import time

import pytest
from django.db import OperationalError

from iris_web.live import hub as hub_module
from scaling import feed
from scaling.feed import Position, reading
from scaling.feed import tail as tail_module
from tests.feed.collector import until
from tests.live.client import Message
from tests.live.conftest import Open
from tests.live.pages import Counts

A: Message = {"name": "test.group", "params": {"name": "a"}}


def live_threads() -> int:
    return sum(
        thread.name.startswith(("feed-tail", "live-hub")) and thread.is_alive() for thread in threading.enumerate()
    )


def test_a_database_that_is_away_is_said_and_made_up_for(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = reading.read_after, threading.Event()

    def failing(*given: object, **named: object) -> object:
        if broken.is_set():
            raise OperationalError("the database is away")
        return whole(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "read_after", failing)
    monkeypatch.setattr(tail_module, "_RETRY_SECONDS", (0.05,))
    with page() as client, page() as late:
        client.hello(str(feed.head()), [A], ["group:a"])
        broken.set()
        event = feed.publish("group:a", "x")
        client.until(lambda: [m["feed"] for m in client.of("state")] == ["away"])
        late.until(lambda: [m["feed"] for m in late.of("state")] == ["away"])
        broken.clear()
        client.until(lambda: [m["feed"] for m in client.of("state")] == ["away", "ok"])
        client.until(lambda: client.numbers() == [event.pk] and bool(client.of("fragment")))


def test_a_reader_that_is_stuck_is_said(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with page() as client:
        client.hello(str(feed.head()), [A])
        monkeypatch.setattr(hub_module, "STUCK_SECONDS", -1.0)
        client.until(lambda: [m["feed"] for m in client.of("state")] == ["away"])
        monkeypatch.setattr(hub_module, "STUCK_SECONDS", 10.0)
        client.until(lambda: [m["feed"] for m in client.of("state")] == ["away", "ok"])


def test_a_feed_that_was_replaced_makes_all_pages_take_everything_anew(
    page: Open, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = reading.head
    with page() as client:
        client.hello(str(feed.head()), [A, {"name": "test.rows"}])
        monkeypatch.setattr(reading, "head", lambda: Position(0, 0))
        client.until(lambda: bool(client.of("resync")))
        monkeypatch.setattr(reading, "head", whole)
        client.until(lambda: len(client.of("fragment")) == 2)
    assert counts.rendered["list whole"] == 1


def test_without_pages_the_hub_ends_and_begins_again_with_the_next(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LINGER_SECONDS", 0.2)
    with page() as client:
        client.hello(str(feed.head()), [A])
        assert live_threads() == 1 + hub_module.THREADS
    until(lambda: live_threads() == 0)
    with page() as client:
        client.hello(str(feed.head()), [A])
        feed.publish("group:a", "x")
        client.until(lambda: bool(client.of("fragment")))


def test_what_nobody_shows_any_more_is_not_rendered(page: Open, counts: Counts) -> None:
    with page() as staying:
        staying.hello(str(feed.head()), topics=["group:a"])
        with page() as leaving:
            leaving.hello(str(feed.head()), [A])
            feed.publish("group:a", "x")
            leaving.until(lambda: bool(leaving.of("fragment")))
        time.sleep(0.3)
        last = feed.publish("group:a", "x").pk
        staying.until(lambda: last in staying.numbers())
        staying.listen(0.4)
    assert counts.rendered["group a viewer"] == 1
