"""Who watches: any living process, one look at a time, and nothing told twice over a restart."""

import threading
from datetime import datetime, timedelta

import pytest
from django.db import OperationalError

from scaling import clock
from scaling.clock import FrozenClock
from scaling.models import Loop, NoticeChannel
from scaling.notices import keeping, watchman
from scaling.notices.facts import WATCH
from scaling.notices.watchman import Watchman, claim
from scaling.testing import builders
from tests.notices.conftest import titles

pytestmark = pytest.mark.django_db


def test_of_all_watchmen_one_makes_each_look(now: datetime) -> None:
    assert [claim(now), claim(now)] == [True, False]
    later = now + timedelta(seconds=watchman.PERIOD_SECONDS)
    assert [claim(later - timedelta(seconds=1)), claim(later), claim(later)] == [False, True, False]


def test_a_clock_that_is_set_back_does_not_stop_the_watch(now: datetime) -> None:
    assert claim(now) and claim(now - timedelta(hours=3))


def test_a_restart_tells_nothing_anew(now: datetime, frozen_clock: FrozenClock) -> None:
    NoticeChannel.objects.create(name="on-call", url="json://a/b", enabled=True)
    builders.make_marker(builders.make_group("v5-8"), now, kind="stockout")
    for _ in range(3):
        one = Watchman(clock.now())
        one._courier.step = lambda _now: None  # type: ignore[method-assign]
        one.step(clock.now())
        frozen_clock.advance(30)
    assert titles() == ["Stock-out: v5-8"]


def test_a_night_in_which_iris_was_off_is_no_stall(now: datetime, frozen_clock: FrozenClock) -> None:
    builders.make_loop("autoscaler", now - timedelta(hours=9), 10)
    NoticeChannel.objects.create(name="on-call", url="json://a/b")
    one = Watchman(now)
    one._courier.step = lambda _now: None  # type: ignore[method-assign]
    for _ in range(12):
        frozen_clock.advance(5)
        one.step(clock.now())
    assert titles() == []
    frozen_clock.advance(5)
    one.step(clock.now())
    assert titles() == ["Loop stalled: autoscaler"]


def test_a_machine_that_slept_begins_its_watch_anew(now: datetime, frozen_clock: FrozenClock) -> None:
    builders.make_loop("autoscaler", now, 10)
    NoticeChannel.objects.create(name="on-call", url="json://a/b")
    one = Watchman(now)
    one._courier.step = lambda _now: None  # type: ignore[method-assign]
    frozen_clock.advance(9 * 3600)
    one.step(clock.now())
    assert titles() == []


def test_the_watch_is_seen_among_the_loops_and_says_why_it_fails(
    now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Watchman(now)
    one.step(now)
    row = Loop.objects.get(name=WATCH)
    assert row.last_finished_at == now and row.last_error == ""

    def fail(*_: object) -> int:
        raise ValueError("a bad fact")

    monkeypatch.setattr(keeping, "look", fail)
    with pytest.raises(ValueError, match="a bad fact"):
        one.step(now + timedelta(seconds=5))
    assert Loop.objects.get(name=WATCH).last_error == "ValueError: a bad fact"


def test_a_database_that_does_not_answer_is_said_once_and_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stop, asked = threading.Event(), []

    def step(_self: Watchman, _now: datetime) -> None:
        asked.append(1)
        if len(asked) == 4:
            stop.set()
        if len(asked) < 4:
            raise OperationalError("the server is gone")

    monkeypatch.setattr(Watchman, "step", step)
    monkeypatch.setattr(watchman, "_STEP_SECONDS", 0.001)
    monkeypatch.setattr(watchman.connection, "close", lambda: None)
    Watchman(clock.now()).run(stop)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["notices wait", "notices go on"]
