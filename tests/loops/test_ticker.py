"""The ticker: each round queued once, none on top of another, none lost for good."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from django_q.models import OrmQ

from scaling.clock import FrozenClock
from scaling.loops import instances, rounds
from scaling.loops.registry import LoopSpec
from scaling.loops.ticker import Ticker
from scaling.models import Event, Installation, Loop
from scaling.stopping import StopRequest
from tests.loops import queued
from tests.loops.queued import only_loops

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HERE = "tests.loops.test_ticker"
QUICK = LoopSpec("quick", 1, f"{HERE}:quick", lost_after_seconds=25)
SLOW = LoopSpec("slow", 10, f"{HERE}:slow", lost_after_seconds=25)

ran: list[tuple[str, datetime]] = []


def quick(now: datetime) -> None:
    ran.append(("quick", now))


def slow(now: datetime) -> None:
    ran.append(("slow", now))


@pytest.fixture(autouse=True)
def two_loops() -> Iterator[None]:
    ran.clear()
    with only_loops(QUICK, SLOW):
        yield


@pytest.fixture
def queue_clock(frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> FrozenClock:
    """The frozen clock, which the queue's own rows then follow too."""
    monkeypatch.setattr("django_q.brokers.orm.timezone", SimpleNamespace(now=frozen_clock))
    return frozen_clock


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.mark.django_db
def test_every_loop_runs_at_once_and_then_on_its_own_period(frozen_clock: FrozenClock) -> None:
    ticker = Ticker()
    for _ in range(21):
        ticker.tick(frozen_clock())
        queued.run_all()
        frozen_clock.advance(0.5)
    assert [at for name, at in ran if name == "quick"] == [later(second) for second in range(11)]
    assert [at for name, at in ran if name == "slow"] == [later(0), later(10)]


@pytest.mark.django_db
def test_the_ticker_says_when_it_is_needed_next() -> None:
    ticker = Ticker()
    assert ticker.tick(NOW) == later(1)
    queued.run_all()
    assert ticker.tick(later(0.4)) == later(1)


@pytest.mark.django_db
def test_deadlines_are_absolute_so_lateness_does_not_add_up(frozen_clock: FrozenClock) -> None:
    ticker = Ticker()
    for second in range(4):
        ticker.tick(frozen_clock.set(later(second + 0.3)))
        queued.run_all()
    assert Loop.objects.get(name="quick").next_due_at == later(4.3)


@pytest.mark.django_db
def test_missed_rounds_are_dropped_not_caught_up(frozen_clock: FrozenClock) -> None:
    ticker = Ticker()
    ticker.tick(frozen_clock())
    queued.run_all()
    ticker.tick(frozen_clock.advance(3600.5))
    assert queued.rounds() == [("quick", 2), ("slow", 2)]
    assert Loop.objects.get(name="quick").next_due_at == later(3601)


@pytest.mark.django_db
def test_a_round_whose_predecessor_still_runs_is_skipped_and_counted_never_queued(frozen_clock: FrozenClock) -> None:
    ticker = Ticker()
    ticker.tick(NOW)
    started = rounds.begin("quick", 1, NOW, NOW)
    OrmQ.objects.all().delete()
    for second in range(1, 6):
        ticker.tick(later(second))
    assert not [name for name, _ in queued.rounds() if name == "quick"]
    assert Loop.objects.get(name="quick").skipped == 5
    assert started is not None
    rounds.finish(started, later(5.5))
    ticker.tick(later(6))
    assert ("quick", 2) in queued.rounds()


@pytest.mark.django_db
def test_skipping_is_told_once_and_only_when_the_round_before_is_slow() -> None:
    ticker = Ticker()
    ticker.tick(NOW)
    rounds.begin("quick", 1, NOW, NOW)
    told = Event.objects.filter(topic="loops", payload__loop="quick")
    for second in range(1, 5):
        ticker.tick(later(second))
    assert not told.exists()
    for second in range(5, 10):
        ticker.tick(later(second))
    assert [event.payload["state"] for event in told] == ["skipping"]


@pytest.mark.django_db
def test_a_slow_loop_does_not_hold_up_the_others(frozen_clock: FrozenClock) -> None:
    ticker = Ticker()
    ticker.tick(NOW)
    rounds.begin("slow", 1, NOW, NOW)
    queued.run_all()
    for second in range(1, 20):
        ticker.tick(frozen_clock.set(later(second)))
        queued.run_all()
    assert [at for name, at in ran if name == "quick"] == [later(second) for second in range(20)]


@pytest.mark.django_db
def test_a_round_lost_with_its_worker_makes_room_after_the_limit() -> None:
    ticker = Ticker()
    ticker.tick(NOW)
    rounds.begin("slow", 1, NOW, later(1))
    ticker.tick(later(20))
    assert Loop.objects.get(name="slow").round == 1
    ticker.tick(later(30))
    row = Loop.objects.get(name="slow")
    assert (row.round, row.running_since, row.last_error) == (2, later(30), rounds.LOST)


@pytest.mark.django_db
def test_a_round_whose_task_was_lost_before_it_began_is_queued_again_under_its_number(
    queue_clock: FrozenClock,
) -> None:
    ticker = Ticker()
    ticker.tick(NOW)
    OrmQ.objects.all().delete()
    ticker.tick(queue_clock.set(later(2.9)))
    assert queued.rounds() == []
    for seconds in (3, 3.2, 6.5, 30):
        ticker.tick(queue_clock.set(later(seconds)))
    assert sorted(queued.rounds()) == [("quick", 1), ("slow", 1)]
    queued.run_all()
    assert sorted(name for name, _ in ran) == ["quick", "slow"]


@pytest.mark.django_db
def test_a_round_that_was_queued_twice_runs_once(queue_clock: FrozenClock) -> None:
    ticker = Ticker()
    ticker.tick(NOW)
    fetched = list(OrmQ.objects.all())
    OrmQ.objects.all().delete()
    ticker.tick(queue_clock.set(later(3)))
    OrmQ.objects.bulk_create(fetched)
    assert sorted(queued.rounds()) == [("quick", 1), ("quick", 1), ("slow", 1), ("slow", 1)]
    queued.run_all()
    assert sorted(name for name, _ in ran) == ["quick", "slow"]


@pytest.mark.django_db
def test_nothing_piles_up_in_the_queue_while_no_worker_runs(queue_clock: FrozenClock) -> None:
    ticker = Ticker()
    for second in range(300):
        ticker.tick(queue_clock.set(later(second)))
    assert sorted(queued.rounds()) == [("quick", 1), ("slow", 1)]


@pytest.mark.django_db
def test_a_clock_that_is_set_back_does_not_stop_the_loops(frozen_clock: FrozenClock) -> None:
    ticker = Ticker()
    ticker.tick(later(7200))
    frozen_clock.set(later(7200))
    queued.run_all()
    ticker.tick(frozen_clock.set(NOW))
    assert ("quick", 2) in queued.rounds()
    assert Loop.objects.get(name="quick").next_due_at == later(1)


@pytest.mark.django_db
def test_the_demonstrations_loop_exists_only_where_there_is_a_demonstration() -> None:
    with only_loops(QUICK, LoopSpec("demonstration", 1, f"{HERE}:slow", only_in_demonstration=True)):
        Ticker().tick(NOW)
        assert queued.rounds() == [("quick", 1)]
        Installation.objects.create(identity="here", demonstration=True)
        Ticker().tick(NOW)
        assert ("demonstration", 1) in queued.rounds()
        Installation.objects.update(demonstration=False)
        Ticker().tick(later(5))
        assert not Loop.objects.filter(name="demonstration").exists()


def of_each_instance(runs: bool) -> LoopSpec:
    return LoopSpec("own", 1, f"{HERE}:quick", per_instance=True, when=runs)


@pytest.mark.django_db
def test_a_ticker_that_does_not_run_a_loop_leaves_the_rows_of_living_instances_that_do() -> None:
    with only_loops(QUICK, of_each_instance(True)):
        Ticker("new").tick(NOW)
    with only_loops(QUICK, of_each_instance(False)):
        Ticker("old").tick(later(50))
        assert Loop.objects.filter(name="own@new").exists()
        Ticker("old").tick(later(61))
        assert not Loop.objects.filter(name="own@new").exists()


@pytest.mark.django_db
def test_an_instance_that_no_longer_runs_a_loop_drops_its_own_row_at_once() -> None:
    with only_loops(QUICK, of_each_instance(True)):
        Ticker("one").tick(NOW)
        Ticker("two").tick(NOW)
    with only_loops(QUICK, of_each_instance(False)):
        Ticker("one").tick(later(1))
    assert set(Loop.objects.values_list("name", flat=True)) == {"quick", "own@two"}


def shared(runs: bool) -> LoopSpec:
    return LoopSpec("shared", 1, f"{HERE}:quick", when=runs)


@pytest.mark.django_db
def test_a_ticker_that_does_not_run_a_shared_loop_leaves_it_to_a_living_one_that_does() -> None:
    with only_loops(QUICK, shared(True)):
        Ticker("with").tick(NOW)
    with only_loops(QUICK, shared(False)):
        Ticker("without").tick(later(20))
        assert Loop.objects.filter(name="shared").exists()
        assert queued.rounds().count(("shared", 1)) == 1


@pytest.mark.django_db
def test_a_shared_loop_that_no_living_ticker_runs_goes() -> None:
    with only_loops(QUICK, shared(True)):
        Ticker("with").tick(NOW)
    with only_loops(QUICK, shared(False)):
        Ticker("without").tick(later(61))
        assert not Loop.objects.filter(name="shared").exists()


@pytest.mark.django_db
def test_a_shared_loop_that_living_tickers_leave_alone_for_an_hour_goes() -> None:
    with only_loops(QUICK, shared(True)):
        Ticker("gone").tick(NOW)
    with only_loops(QUICK, shared(False)):
        instances.announce("two", later(3590))
        Ticker("one").tick(later(3595))
        assert Loop.objects.filter(name="shared").exists()
        Ticker("one").tick(later(3605))
        assert not Loop.objects.filter(name="shared").exists()


@pytest.mark.django_db
def test_a_changed_period_holds_from_the_next_round_on(frozen_clock: FrozenClock) -> None:
    Ticker().tick(NOW)
    queued.run_all()
    with only_loops(LoopSpec("quick", 4, f"{HERE}:quick")):
        Ticker().tick(later(1))
    row = Loop.objects.get(name="quick")
    assert (row.period_seconds, row.next_due_at) == (4, later(5))


@pytest.mark.django_db
def test_a_period_that_an_import_stored_holds_where_the_registry_allows_it(frozen_clock: FrozenClock) -> None:
    with only_loops(LoopSpec("quick", 1, f"{HERE}:quick", adjustable=True)):
        Ticker().tick(NOW)
        queued.run_all()
        Loop.objects.update(period_seconds=30)
        Ticker().tick(later(1))
    row = Loop.objects.get(name="quick")
    assert (row.round, row.period_seconds, row.next_due_at) == (2, 30, later(31))


@pytest.mark.django_db(transaction=True)
def test_racing_tickers_queue_each_round_exactly_once() -> None:
    racers, seconds = 4, 12
    barrier = Barrier(racers)

    def race(_: int) -> None:
        ticker = Ticker()
        try:
            for second in range(seconds):
                barrier.wait()
                ticker.tick(later(second))
                if barrier.wait() == 0:
                    Loop.objects.update(running_since=None)
        finally:
            connection.close()

    with ThreadPoolExecutor(racers) as pool:
        list(pool.map(race, range(racers)))
    assert [number for name, number in queued.rounds() if name == "quick"] == list(range(1, seconds + 1))
    assert [number for name, number in queued.rounds() if name == "slow"] == [1, 2]
    assert Loop.objects.get(name="quick").skipped == 0


@pytest.mark.django_db
def test_a_database_that_does_not_answer_is_said_once_and_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stop, answers = StopRequest(), iter([OperationalError("gone"), OperationalError("gone"), later(0)])
    pauses: list[float] = []

    def tick(self: Ticker, now: datetime) -> datetime:
        answer = next(answers, None)
        if answer is None:
            stop.set()
            return now
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(Ticker, "tick", tick)
    monkeypatch.setattr(stop, "wait", lambda seconds: pauses.append(seconds) or stop.is_set())
    monkeypatch.setattr("scaling.loops.ticker.close_old_connections", lambda: None)
    with caplog.at_level("INFO", logger="scaling.loops.ticker"):
        Ticker().run(stop)
    assert [record.message for record in caplog.records] == [
        "ticker waits for the database or the queue",
        "ticker works again",
    ]
    assert pauses[:2] == [1.0, 1.0]
