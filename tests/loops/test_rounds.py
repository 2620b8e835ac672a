"""One round of a loop: claimed once, begun once, finished once."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.loops import rounds
from scaling.loops.registry import LoopSpec
from scaling.models import Loop

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SPEC = LoopSpec("sweep", 10, "tests:none", lost_after_seconds=25)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def claimed(**fields: object) -> Loop:
    """The row after its first round was claimed at NOW."""
    loop = Loop.objects.create(name="sweep", period_seconds=10, next_due_at=NOW, **fields)
    assert rounds.claim(loop, SPEC, NOW, lambda number: None) == 1
    loop.refresh_from_db()
    return loop


@pytest.mark.django_db
def test_of_two_tickers_that_saw_the_same_row_one_claims_it() -> None:
    loop = Loop.objects.create(name="sweep", period_seconds=10, next_due_at=NOW)
    queued: list[int] = []
    assert rounds.claim(loop, SPEC, NOW, queued.append) == 1
    assert rounds.claim(loop, SPEC, NOW, queued.append) is None
    assert queued == [1]


@pytest.mark.django_db
def test_a_claim_whose_queueing_fails_is_undone() -> None:
    loop = Loop.objects.create(name="sweep", period_seconds=10, next_due_at=NOW)

    def broken(number: int) -> None:
        raise ConnectionError("queue is gone")

    with pytest.raises(ConnectionError):
        rounds.claim(loop, SPEC, NOW, broken)
    loop.refresh_from_db()
    assert (loop.round, loop.running_since, loop.next_due_at) == (0, None, NOW)


@pytest.mark.django_db
def test_a_task_that_comes_twice_finds_its_round_under_way_and_then_done() -> None:
    claimed()
    first = rounds.begin("sweep", 1, NOW, later(1))
    assert first is not None
    assert rounds.begin("sweep", 1, NOW, later(1)) is None
    assert rounds.finish(first, later(2))
    assert rounds.begin("sweep", 1, NOW, later(200)) is None


@pytest.mark.django_db
def test_a_worker_whose_clock_runs_behind_the_tickers_still_begins_a_round_once() -> None:
    claimed()
    assert rounds.begin("sweep", 1, NOW, later(-5)) is not None
    assert rounds.begin("sweep", 1, NOW, later(-4)) is None


@pytest.mark.django_db
def test_lateness_is_counted_from_the_deadline_and_never_negative() -> None:
    claimed()
    rounds.begin("sweep", 1, NOW, later(0.25))
    assert Loop.objects.get().last_lateness_ms == pytest.approx(250)
    Loop.objects.update(last_started_at=None)
    rounds.begin("sweep", 1, NOW, later(-3))
    assert Loop.objects.get().last_lateness_ms == 0


@pytest.mark.django_db
def test_a_round_that_was_given_up_cannot_be_finished_and_the_next_one_is_untouched() -> None:
    claimed()
    dead = rounds.begin("sweep", 1, NOW, later(1))
    assert dead is not None
    assert rounds.give_up("sweep", 1)
    assert Loop.objects.get().last_error == rounds.LOST
    assert rounds.claim(Loop.objects.get(), SPEC, later(10), lambda number: None) == 2
    assert not rounds.finish(dead, later(11))
    assert Loop.objects.get().running_since == later(10)


@pytest.mark.django_db
def test_a_round_that_has_not_begun_is_not_given_up() -> None:
    claimed()
    assert not rounds.give_up("sweep", 1)
    assert rounds.begin("sweep", 1, NOW, later(1)) is not None


@pytest.mark.django_db
def test_a_round_counts_as_lost_only_after_it_began_and_the_limit_passed() -> None:
    waiting = claimed()
    assert not rounds.is_lost(waiting, SPEC, later(3600))
    rounds.begin("sweep", 1, NOW, later(5))
    running = Loop.objects.get()
    assert not rounds.is_lost(running, SPEC, later(29.9))
    assert rounds.is_lost(running, SPEC, later(30))


@pytest.mark.django_db
def test_an_error_is_kept_until_a_round_ends_well() -> None:
    claimed()
    first = rounds.begin("sweep", 1, NOW, NOW)
    assert first is not None
    assert not first.failing
    rounds.finish(first, later(1), "ValueError: no")
    rounds.claim(Loop.objects.get(), SPEC, later(10), lambda number: None)
    second = rounds.begin("sweep", 2, later(10), later(10))
    assert second is not None
    assert second.failing
    assert Loop.objects.get().last_error == "ValueError: no"
    rounds.finish(second, later(11))
    assert Loop.objects.get().last_error == ""


@given(
    period=st.floats(0.5, 5000, allow_nan=False),
    late_seconds=st.floats(0, 1e6, allow_nan=False),
)
def test_the_next_deadline_is_the_first_one_ahead_on_the_same_grid(period: float, late_seconds: float) -> None:
    now = later(late_seconds)
    deadline = rounds.next_deadline(NOW, period, now)
    assert deadline > now
    assert (deadline - now).total_seconds() <= period + 1e-3
    periods = (deadline - NOW).total_seconds() / period
    assert periods == pytest.approx(round(periods), abs=1e-3)
