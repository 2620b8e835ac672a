"""Telling a ticker that hands out nothing from one that comes up slowly, on a clock that only the test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from scaling.clock import FrozenClock
from scaling.models import Loop
from scaling.supervisor.ticker_watch import LONGEST_START_SECONDS, TickerWatch

pytestmark = pytest.mark.django_db


@dataclass(eq=False)
class Running:
    """A child as the watch sees it."""

    group: int | None = 1


@dataclass
class Machine:
    """A machine on which time passes second by second; `ticks`: whether the ticker takes what is due."""

    wall: FrozenClock
    ticker: Running = field(default_factory=Running)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.watch = TickerWatch(self.ticker, monotonic=lambda: self.seconds)  # type: ignore[arg-type]
        self.watch.look()

    def passes(self, seconds: float, ticks: bool = False, look_each: float = 1.0) -> None:
        end = self.seconds + seconds
        while self.seconds < end:
            self.seconds += look_each
            now = self.wall.advance(look_each)
            if ticks:
                Loop.objects.filter(name="heartbeat", next_due_at__lte=now).update(next_due_at=now + timedelta(0, 2))
            self.watch.look()

    def stuck_after(self, at_most: float) -> float | None:
        """How many seconds of doing nothing until the ticker counts as stuck; None = not within `at_most`."""
        began = self.seconds
        while self.seconds - began < at_most:
            self.passes(1)
            if self.watch.is_stuck():
                return self.seconds - began
        return None

    def starts_another(self) -> None:
        self.ticker.group = None
        self.passes(1)
        self.ticker.group = int(self.seconds) + 1000
        self.passes(1)


@pytest.fixture
def machine(frozen_clock: FrozenClock) -> Machine:
    """After a restart: all deadlines passed an hour ago."""
    Loop.objects.create(name="heartbeat", period_seconds=2, next_due_at=frozen_clock() - timedelta(hours=1))
    return Machine(frozen_clock)


def test_deadlines_of_before_the_start_are_not_the_tickers_fault(machine: Machine) -> None:
    machine.passes(25)
    assert not machine.watch.is_stuck()
    machine.passes(600, ticks=True)
    assert not machine.watch.is_stuck()


def test_a_ticker_that_never_takes_a_deadline_is_stuck_after_its_start_up_time(machine: Machine) -> None:
    assert machine.stuck_after(60) == 30


def test_a_ticker_that_takes_no_more_deadlines_is_stuck_within_seconds(machine: Machine) -> None:
    machine.passes(10, ticks=True)
    assert 10 <= (machine.stuck_after(60) or 0) <= 13


def test_on_a_machine_too_slow_for_the_start_up_time_the_ticker_comes_up_in_the_end(machine: Machine) -> None:
    times = []
    for _start in range(5):
        times.append(machine.stuck_after(300))
        machine.starts_another()
    assert times == [30, 60, 120, 240, 240]
    assert max(time or 0 for time in times) <= LONGEST_START_SECONDS
    machine.passes(20, ticks=True)
    machine.starts_another()
    assert machine.stuck_after(60) == 30


def test_each_start_has_its_own_time_to_come_up(machine: Machine) -> None:
    machine.passes(20, ticks=True)
    machine.passes(8)
    machine.starts_another()
    machine.passes(25)
    assert not machine.watch.is_stuck()


@pytest.mark.parametrize("look_each", [40.0, 3600.0])
def test_a_time_in_which_nobody_looked_accuses_nobody(machine: Machine, look_each: float) -> None:
    machine.passes(20, ticks=True)
    machine.passes(look_each, look_each=look_each)
    assert not machine.watch.is_stuck()
    assert machine.watch.working_seconds < 5


def test_looks_that_a_busy_machine_makes_late_count_as_looks(machine: Machine) -> None:
    machine.passes(40, ticks=True, look_each=5)
    assert machine.watch.working_seconds >= 15
    machine.passes(25, look_each=5)
    assert machine.watch.is_stuck()


def test_a_wall_clock_that_is_set_forward_accuses_nobody(machine: Machine) -> None:
    machine.passes(20, ticks=True)
    machine.wall.advance(3600)
    machine.passes(2)
    assert not machine.watch.is_stuck()


def test_a_ticker_whose_next_deadline_is_far_ahead_is_not_stuck(machine: Machine) -> None:
    machine.passes(10, ticks=True)
    Loop.objects.update(next_due_at=machine.wall() + timedelta(hours=1))
    assert machine.stuck_after(60) is None


def test_without_any_deadline_made_the_ticker_has_not_come_up(frozen_clock: FrozenClock) -> None:
    assert Machine(frozen_clock).stuck_after(60) == 30


def test_a_ticker_that_does_not_run_is_not_stuck(machine: Machine) -> None:
    machine.ticker.group = None
    assert machine.stuck_after(60) is None


@pytest.mark.parametrize(("act", "seconds"), [("works", 20), ("stops", 0), ("starts", 0)])
def test_how_long_work_is_handed_out_is_counted_without_a_pause(machine: Machine, act: str, seconds: float) -> None:
    machine.passes(20, ticks=True)
    acts: dict[str, Callable[[], None]] = {
        "works": lambda: None,
        "stops": lambda: machine.passes(8),
        "starts": machine.starts_another,
    }
    acts[act]()
    assert machine.watch.working_seconds == seconds
