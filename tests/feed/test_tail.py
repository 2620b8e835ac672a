"""Following the feed: nothing missed, nothing twice, in order, soon, and through trouble."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from django.db import OperationalError, connection, transaction

from scaling import feed
from scaling.feed import Position, publishing, reading
from scaling.feed import tail as tail_module
from scaling.feed.waking import FALLBACK_SECONDS
from scaling.models import Event
from tests.feed.collector import Collector, until
from tests.feed.writer import main as write
from tests.services.stack import ROOT, process_environment

pytestmark = pytest.mark.django_db(transaction=True)


def in_threads(*works: object) -> list[threading.Thread]:
    """Start each work in a thread that closes its database connection at its end."""

    def run(work: object) -> None:
        try:
            work()  # type: ignore[operator]
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    return threads


def assert_each_writer_is_heard_in_order(reader: Collector, writers: dict[str, int]) -> None:
    heard = Counter(event.topic for event in reader.events)
    assert heard == {f"writer:{name}": count for name, count in writers.items()}
    assert len(set(reader.ids())) == len(reader.events)
    for name, count in writers.items():
        assert [e.payload["n"] for e in reader.events if e.topic == f"writer:{name}"] == list(range(count))


def test_two_readers_get_everything_that_eight_threads_write_once_and_in_the_same_order() -> None:
    one, other = Collector(), Collector()
    with one.following(), other.following():
        writers = in_threads(*[lambda name=str(n): write(name, 60) for n in range(8)])
        for writer in writers:
            writer.join()
        until(lambda: len(one.events) >= 480 and len(other.events) >= 480)
    assert_each_writer_is_heard_in_order(one, {str(n): 60 for n in range(8)})
    assert one.ids() == other.ids()


@pytest.mark.processes
def test_a_reader_gets_everything_that_several_processes_write() -> None:
    names = ("a", "b", "c", "d")
    reader = Collector()
    with reader.following():
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.feed.writer", name, "150"],
                cwd=ROOT,
                env=os.environ | process_environment(),
            )
            for name in names
        ]
        assert [process.wait(60) for process in processes] == [0] * 4
        until(lambda: len(reader.events) >= 600)
    assert_each_writer_is_heard_in_order(reader, dict.fromkeys(names, 150))


def test_an_event_committed_late_by_a_transaction_that_began_early_is_not_missed() -> None:
    """On SQLite the second writer waits for the first; on PostgreSQL it commits first, with the higher id."""
    began, finish = threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic():
            feed.publish("writer:slow", "wrote")
            began.set()
            finish.wait(10)

    reader = Collector()
    with reader.following():
        first = in_threads(slow)
        began.wait(10)
        second = in_threads(lambda: feed.publish("writer:quick", "wrote"))
        time.sleep(0.3)
        assert reader.events == []
        finish.set()
        for thread in first + second:
            thread.join()
        until(lambda: len(reader.events) == 2)
    assert [event.topic for event in reader.events] == ["writer:slow", "writer:quick"]


def test_a_reader_is_woken_at_once() -> None:
    reader = Collector()
    delays = []
    with reader.following():
        for _ in range(20):
            event = feed.publish("cycle", "done")
            committed = time.monotonic()
            until(lambda pk=event.pk: pk in reader.arrived)
            delays.append(reader.arrived[event.pk] - committed)
    assert sorted(delays)[10] < FALLBACK_SECONDS / 2


def test_without_any_wake_up_the_clock_still_brings_every_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "_wake", lambda: None)
    reader = Collector()
    with reader.following():
        time.sleep(0.1)
        feed.publish("cycle", "done")
        until(lambda: len(reader.events) == 1, seconds=20)


def test_a_backlog_larger_than_one_read_arrives_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Collector()
    with reader.following():
        rows = feed.publish_many(("slices", "state", {"n": n}) for n in range(3500))
        until(lambda: len(reader.events) >= 3500)
    assert reader.ids() == [row.pk for row in rows]


def test_a_database_that_goes_away_is_said_once_and_nothing_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = reading.read_after, threading.Event()

    def failing(*given: object, **named: object) -> object:
        if broken.is_set():
            raise OperationalError("the database is away")
        return whole(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "read_after", failing)
    monkeypatch.setattr(tail_module, "_RETRY_SECONDS", (0.05,))
    reader = Collector()
    with reader.following():
        broken.set()
        row = feed.publish("cycle", "done")
        until(lambda: reader.states == ["away"])
        time.sleep(0.2)
        broken.clear()
        until(lambda: reader.states == ["away", "back"])
        until(lambda: reader.ids() == [row.pk])
    assert len(reader.starts) == 1


def test_a_feed_that_was_replaced_by_an_older_one_makes_the_reader_start_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, older = reading.head, Position(0, 0)
    feed.publish("cycle", "done")
    reader = Collector()
    with reader.following():
        monkeypatch.setattr(reading, "head", lambda: older)
        until(lambda: reader.starts[1:] == [older])
        monkeypatch.setattr(reading, "head", whole)
        feed.publish("cycle", "done")
        until(lambda: len(reader.events) == 2)


def test_a_stopped_reader_leaves_nothing_behind() -> None:
    reader = Collector()
    with reader.following():
        assert sum(thread.name == "feed-tail" for thread in threading.enumerate()) >= 1
    feed.publish("cycle", "done")
    time.sleep(0.05)
    assert reader.events == []
    assert Event.objects.count() == 1
