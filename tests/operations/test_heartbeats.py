"""A worker's sign of life, and what it does to idle windows."""

from datetime import timedelta
from typing import Any

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Event, Slice, Worker
from scaling.testing.builders import make_group, make_job, make_slice, make_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def slice_(frozen_clock: FrozenClock) -> Slice:
    """`s1` with two workers, idle for 100 s."""
    return make_slice(make_group("g", workers_per_slice=2), frozen_clock(), idle=100, name="s1")


def _worker(index: int = 0) -> Worker:
    return Worker.objects.get(name=f"s1-{index}")


def _slice_idle() -> Any:
    return Slice.objects.get(name="s1").idle_since


def test_a_busy_worker_ends_the_idleness_of_its_slice(actor: Actor, slice_: Slice, frozen_clock: FrozenClock) -> None:
    operations.heartbeat(actor, "s1-0", 3)
    assert (_worker().reported_tasks, _worker().idle_since, _worker().heartbeat_at) == (3, None, frozen_clock())
    assert _slice_idle() is None
    assert Event.objects.filter(topic="slice:s1", kind="worker").exists()


def test_the_last_worker_to_fall_idle_begins_the_slices_window(
    actor: Actor, slice_: Slice, frozen_clock: FrozenClock
) -> None:
    operations.heartbeat(actor, "s1-0", 1)
    now = frozen_clock.advance(10)
    operations.heartbeat(actor, "s1-0", 0)
    assert _worker().idle_since == now == _slice_idle()


def test_an_idle_worker_keeps_its_window(actor: Actor, slice_: Slice, frozen_clock: FrozenClock) -> None:
    since = _worker().idle_since
    frozen_clock.advance(10)
    operations.heartbeat(actor, "s1-0", 0)
    assert _worker().idle_since == since == _slice_idle()


def test_tasks_that_iris_placed_are_not_counted_twice(actor: Actor, slice_: Slice, frozen_clock: FrozenClock) -> None:
    make_task(make_job(frozen_clock()), _worker(), frozen_clock())
    operations.heartbeat(actor, "s1-0", 3)
    assert _worker().reported_tasks == 2
    operations.heartbeat(actor, "s1-0", 0)
    assert (_worker().reported_tasks, _worker().idle_since) == (0, None)


def _fall_silent(frozen_clock: FrozenClock) -> None:
    """Nothing is heard of `s1-0` for a minute."""
    now = frozen_clock.advance(60)
    Worker.objects.filter(name="s1-0").update(state="UNKNOWN", unknown_since=now, idle_since=None)
    frozen_clock.advance(5)


def test_a_silent_worker_is_back_with_a_whole_new_window(
    actor: Actor, slice_: Slice, frozen_clock: FrozenClock
) -> None:
    _fall_silent(frozen_clock)
    operations.heartbeat(actor, "s1-0", 0)
    worker = _worker()
    assert (worker.state, worker.unknown_since, worker.idle_since) == ("READY", None, frozen_clock())


def test_a_silent_worker_with_a_slow_clock_is_back_and_its_count_is_heard(
    actor: Actor, slice_: Slice, frozen_clock: FrozenClock
) -> None:
    _fall_silent(frozen_clock)
    operations.heartbeat(actor, "s1-0", 2, frozen_clock() - timedelta(hours=1))
    worker = _worker()
    assert (worker.state, worker.reported_tasks, worker.heard_at) == ("READY", 2, frozen_clock())


def test_a_worker_that_its_platform_cannot_see_is_not_back_by_reporting(
    actor: Actor, slice_: Slice, frozen_clock: FrozenClock
) -> None:
    since = frozen_clock.advance(8)
    Worker.objects.filter(name="s1-0").update(state="UNKNOWN", unknown_since=since, idle_since=None)
    for _beat in range(3):
        frozen_clock.advance(10)
        operations.heartbeat(actor, "s1-0", 0)
    worker = _worker()
    assert (worker.state, worker.unknown_since, worker.idle_since) == ("UNKNOWN", since, None)
    assert worker.heard_at == frozen_clock()


@pytest.mark.parametrize("state", ["BOOTING", "NOT_FOUND"])
def test_what_the_platform_says_of_a_worker_stands(actor: Actor, slice_: Slice, state: str) -> None:
    Worker.objects.filter(name="s1-0").update(state=state)
    operations.heartbeat(actor, "s1-0", 0)
    assert _worker().state == state


def test_a_late_heartbeat_is_ignored_and_one_from_the_future_is_now(
    actor: Actor, slice_: Slice, frozen_clock: FrozenClock
) -> None:
    now = frozen_clock.advance(60)
    operations.heartbeat(actor, "s1-0", 2, now + timedelta(days=1))
    assert _worker().heartbeat_at == now
    later = frozen_clock.advance(1)
    operations.heartbeat(actor, "s1-0", 0, now - timedelta(seconds=5))
    assert (_worker().reported_tasks, _worker().heartbeat_at, _worker().heard_at) == (2, now, later)


def test_counts_of_a_worker_whose_clock_was_set_back_are_soon_heard_again(
    actor: Actor, slice_: Slice, frozen_clock: FrozenClock
) -> None:
    operations.heartbeat(actor, "s1-0", 0, frozen_clock())
    for _beat in range(6):
        now = frozen_clock.advance(10)
        operations.heartbeat(actor, "s1-0", 4, now - timedelta(hours=1))
    assert (_worker().reported_tasks, _worker().heard_at) == (4, now)


def test_a_heartbeat_is_no_act(actor: Actor, slice_: Slice) -> None:
    operations.heartbeat(actor, "s1-0", 2)
    assert not Action.objects.exists()


@pytest.mark.parametrize("tasks", [-1, 1.5, "2", None, 10**9])
def test_a_count_that_is_none_is_refused(actor: Actor, slice_: Slice, tasks: Any) -> None:
    with pytest.raises(operations.InvalidRequest, match=r"^active_tasks: expected a whole number"):
        operations.heartbeat(actor, "s1-0", tasks)


def test_a_worker_that_is_not_there_is_said(actor: Actor, slice_: Slice) -> None:
    with pytest.raises(operations.NotFound, match='there is no worker "s9-0"'):
        operations.heartbeat(actor, "s9-0", 0)
    Slice.objects.filter(name="s1").update(state="GONE")
    with pytest.raises(operations.NotFound, match="s1-0 belongs to s1, which is GONE"):
        operations.heartbeat(actor, "s1-0", 0)


def test_a_heartbeat_of_a_worker_that_is_gone_does_not_look_for_one_like_it(actor: Actor, slice_: Slice) -> None:
    with pytest.raises(operations.NotFound, match=r'there is no worker "s1-9"$'):
        operations.heartbeat(actor, "s1-9", 0)
