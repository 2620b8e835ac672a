"""Tickers and workers as real processes on the database of this run."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django_q.models import OrmQ

from scaling import clock
from scaling.loops import rounds
from scaling.models import Heartbeat, Loop
from tests.loops import queued
from tests.services.stack import ProcessStack

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def processes() -> Iterator[ProcessStack]:
    stack = ProcessStack()
    yield stack
    stack.stop()


def take_queued() -> list[tuple[str, int]]:
    """Take what is queued and end those rounds, as a worker without any work of its own would."""
    taken = []
    for row in OrmQ.objects.order_by("pk"):
        name, number = _words(row)
        row.delete()
        now = clock.now()
        if begun := rounds.begin(name, number, now, now):
            rounds.finish(begun, now)
        taken.append((name, number))
    return taken


def _words(row: OrmQ) -> tuple[str, int]:
    name, number, _ = queued.unpacked(row)["args"]
    return name, number


def test_two_tickers_give_exactly_one_execution_per_period(processes: ProcessStack) -> None:
    processes.start("ticker", "ticker")
    ran: Counter[tuple[str, int]] = Counter()
    deadline = time.monotonic() + 40
    while not ran and time.monotonic() < deadline:
        ran.update(take_queued())
        time.sleep(0.02)
    # Both are up after this; what counts are the five periods of a second from then on.
    time.sleep(2)
    ran.update(take_queued())
    first = Loop.objects.get(name="scheduler").round
    began = time.monotonic()
    while time.monotonic() - began < 5:
        ran.update(take_queued())
        time.sleep(0.02)
    assert set(ran.values()) == {1}
    assert Loop.objects.get(name="scheduler").round - first in (4, 5, 6)


def test_a_worker_runs_each_round_once_and_leaves_the_queue_empty(processes: ProcessStack) -> None:
    now = clock.now()
    Loop.objects.create(
        name="heartbeat", period_seconds=2, next_due_at=now + timedelta(hours=1), round=1, running_since=now
    )
    for _ in range(3):
        queued.enqueue_round("heartbeat", 1)
    processes.start("qcluster")
    deadline = time.monotonic() + 40
    while (OrmQ.objects.exists() or not Heartbeat.objects.exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    row = Loop.objects.get(name="heartbeat")
    assert (row.running_since, row.last_error) == (None, "")
    assert row.last_finished_at is not None
    assert Heartbeat.objects.get(name="queue").at <= row.last_finished_at
    assert not OrmQ.objects.exists()
