"""Telling a task queue that has locked up from one that is busy, starting, idle for lack of a ticker, or unlucky."""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import OperationalError

from scaling import clock
from scaling.loops import marks
from scaling.loops.heartbeat import QUEUE
from scaling.models import Event, Heartbeat, Loop
from scaling.supervisor.ticker_watch import TickerWatch
from scaling.supervisor.watch import QueueWatch, Watcher

pytestmark = pytest.mark.django_db


@dataclass(eq=False)
class Running:
    """A child as the watch sees it."""

    group: int | None = 1


@dataclass
class Working:
    """What is known of the ticker: for how long it has handed out work."""

    working_seconds: float = 1000


@pytest.fixture
def watch(tmp_path: Path) -> QueueWatch:
    return QueueWatch(tmp_path / "marks")


@pytest.fixture
def folder(watch: QueueWatch) -> Path:
    """The folder of the worker's present start, in which a first task has ended."""
    made = Path(watch.environment()[marks.FOLDER])
    (made / marks.USED).touch()
    return made


@pytest.fixture
def dead_pid() -> Iterator[int]:
    process = subprocess.Popen(["true"])
    process.wait()
    yield process.pid


def silent_for(folder: Path, seconds: float) -> None:
    os.utime(folder, (time.time() - seconds,) * 2)


def running_mark(folder: Path, began_seconds_ago: float, pid: int | None = None, words: str = "[]") -> None:
    mark = folder / str(pid or os.getpid())
    mark.write_text(words)
    os.utime(mark, (time.time() - began_seconds_ago,) * 2)


def is_stuck(watch: QueueWatch, ticker: Working | None = None) -> bool:
    return watch.is_stuck(Running(), ticker or Working())  # type: ignore[arg-type]


def stuck_groups(watcher: Watcher) -> set[int]:
    return set(watcher.stuck.values())


def test_a_queue_without_any_task_for_five_seconds_is_stuck(watch: QueueWatch, folder: Path) -> None:
    silent_for(folder, 4)
    assert not is_stuck(watch)
    silent_for(folder, 6)
    assert is_stuck(watch)


def test_a_queue_whose_processes_run_long_tasks_is_not_stuck(watch: QueueWatch, folder: Path) -> None:
    running_mark(folder, 18)
    silent_for(folder, 18)
    assert not is_stuck(watch)


def test_a_task_far_past_its_time_limit_is_no_excuse(watch: QueueWatch, folder: Path) -> None:
    running_mark(folder, 40)
    silent_for(folder, 40)
    assert is_stuck(watch)


def test_a_mark_of_a_dead_process_is_no_excuse(watch: QueueWatch, folder: Path, dead_pid: int) -> None:
    running_mark(folder, 6, pid=dead_pid)
    silent_for(folder, 6)
    assert is_stuck(watch)


def test_the_first_task_after_a_start_may_take_longer(watch: QueueWatch) -> None:
    folder = Path(watch.environment()[marks.FOLDER])
    silent_for(folder, 25)
    assert not is_stuck(watch)
    silent_for(folder, 31)
    assert is_stuck(watch)


def test_each_start_that_came_to_nothing_gives_the_next_one_more_time(watch: QueueWatch) -> None:
    limits = []
    for _start in range(5):
        folder = Path(watch.environment()[marks.FOLDER])
        limits.append(next(limit for limit in (30, 60, 120, 240, 480) if _is_stuck_after(watch, folder, limit + 1)))
    assert limits == [30, 60, 120, 240, 240]
    (folder / marks.USED).touch()
    folder = Path(watch.environment()[marks.FOLDER])
    assert _is_stuck_after(watch, folder, 31)


def _is_stuck_after(watch: QueueWatch, folder: Path, seconds: float) -> bool:
    silent_for(folder, seconds)
    return is_stuck(watch)


def test_silence_while_no_ticker_hands_out_work_is_not_the_workers_fault(watch: QueueWatch, folder: Path) -> None:
    silent_for(folder, 100)
    assert not is_stuck(watch, Working(0))
    assert not is_stuck(watch, Working(4))
    assert is_stuck(watch, Working(6))


def test_a_worker_that_hangs_in_a_task_is_stuck_although_the_ticker_waits_for_its_lock(
    watch: QueueWatch, folder: Path
) -> None:
    running_mark(folder, 20)
    silent_for(folder, 20)
    assert not is_stuck(watch, Working(0))
    running_mark(folder, 40)
    silent_for(folder, 40)
    assert is_stuck(watch, Working(0))


def silent_ticker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticker that has taken no deadline for long, and that nothing has excused yet."""

    def look(watch: TickerWatch) -> None:
        watch._group, watch._silent_seconds = 12, watch._silent_seconds or 100.0

    monkeypatch.setattr(TickerWatch, "look", look)


def test_a_ticker_that_may_wait_for_the_lock_of_a_running_task_is_not_stuck(
    watch: QueueWatch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent_ticker(monkeypatch)
    running_mark(folder, 20)
    watcher = Watcher(watch, Running(group=11), Running(group=12))  # type: ignore[arg-type]
    watcher.look()
    assert watcher.stuck == {}
    (folder / str(os.getpid())).unlink()
    watcher.look()
    assert stuck_groups(watcher) == {12}


def test_of_a_hanging_task_and_the_ticker_that_waits_for_it_only_the_worker_is_replaced(
    watch: QueueWatch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent_ticker(monkeypatch)
    running_mark(folder, 40)
    silent_for(folder, 40)
    watcher = Watcher(watch, Running(group=11), Running(group=12))  # type: ignore[arg-type]
    watcher.look()
    assert stuck_groups(watcher) == {11}


def test_beside_other_workers_that_do_the_work_silence_may_last_a_minute(watch: QueueWatch, folder: Path) -> None:
    Heartbeat.objects.create(name=QUEUE, at=clock.now())
    silent_for(folder, 30)
    assert not is_stuck(watch)
    silent_for(folder, 61)
    assert is_stuck(watch)


def test_rounds_that_died_with_their_process_are_given_up(watch: QueueWatch, folder: Path, dead_pid: int) -> None:
    now = clock.now()
    for name in ("dead", "alive"):
        Loop.objects.create(
            name=name, period_seconds=1, next_due_at=now, round=7, running_since=now, last_started_at=now
        )
    running_mark(folder, 1, pid=dead_pid, words='["scaling.loops.tasks.run_loop", "dead", 7, 1.0]')
    running_mark(folder, 1, words='["scaling.loops.tasks.run_loop", "alive", 7, 1.0]')
    assert watch.give_up_lost_rounds() == ["dead"]
    assert watch.give_up_lost_rounds() == []
    assert [event.payload["loop"] for event in Event.objects.filter(topic="loops")] == ["dead"]
    assert Loop.objects.get(name="dead").running_since is None
    assert Loop.objects.get(name="alive").running_since == now


def test_rounds_that_died_with_the_supervisor_before_are_given_up_by_the_next_one(
    tmp_path: Path, dead_pid: int
) -> None:
    now = clock.now()
    Loop.objects.create(
        name="dead", period_seconds=10, next_due_at=now, round=7, running_since=now, last_started_at=now
    )
    before = Path(QueueWatch(tmp_path / "marks").environment()[marks.FOLDER])
    running_mark(before, 1, pid=dead_pid, words='["scaling.loops.tasks.run_loop", "dead", 7, 1.0]')
    QueueWatch(tmp_path / "marks")
    assert Loop.objects.get(name="dead").running_since is None
    assert not before.exists()


def test_rounds_whose_process_outlives_its_supervisor_a_little_are_given_up_when_it_dies(tmp_path: Path) -> None:
    now = clock.now()
    Loop.objects.create(
        name="dying", period_seconds=10, next_due_at=now, round=7, running_since=now, last_started_at=now
    )
    before = Path(QueueWatch(tmp_path / "marks").environment()[marks.FOLDER])
    process = subprocess.Popen(["sleep", "60"])
    running_mark(before, 1, pid=process.pid, words='["scaling.loops.tasks.run_loop", "dying", 7, 1.0]')
    watch = QueueWatch(tmp_path / "marks")
    assert Path(watch.environment()[marks.FOLDER]) != before
    assert watch.give_up_lost_rounds() == []
    process.kill()
    process.wait()
    assert watch.give_up_lost_rounds() == ["dying"]


@pytest.mark.parametrize("words", ["", "[", '["other.task", 1]', "[]", '["scaling.loops.tasks.run_loop"]', "3"])
def test_marks_of_other_tasks_or_half_written_ones_are_cleared(
    watch: QueueWatch, folder: Path, dead_pid: int, words: str
) -> None:
    running_mark(folder, 1, pid=dead_pid, words=words)
    assert watch.give_up_lost_rounds() == []
    assert not (folder / str(dead_pid)).exists()


def test_rounds_of_a_worker_that_has_been_replaced_meanwhile_are_given_up_too(
    watch: QueueWatch, folder: Path, dead_pid: int
) -> None:
    now = clock.now()
    Loop.objects.create(name="dead", period_seconds=1, next_due_at=now, round=7, running_since=now, last_started_at=now)
    running_mark(folder, 1, pid=dead_pid, words='["scaling.loops.tasks.run_loop", "dead", 7, 1.0]')
    watch.environment()
    assert watch.give_up_lost_rounds() == ["dead"]


def test_each_start_of_the_worker_has_a_folder_of_its_own(watch: QueueWatch) -> None:
    assert watch.environment() != watch.environment()


def test_a_process_of_the_queue_marks_the_task_it_runs(tmp_path: Path) -> None:
    keeper = marks._Keeper(tmp_path)
    keeper.begin({"func": "scaling.loops.tasks.run_loop", "args": ("sweep", 3, 1.5)})
    assert marks.is_used(tmp_path)
    assert marks.busy(tmp_path, 10)
    assert marks.silent_seconds(tmp_path) < 5
    assert marks._round(tmp_path / str(os.getpid())) == ("sweep", 3)
    keeper.end()
    assert not marks.busy(tmp_path, 10)


def test_a_stuck_process_is_noted_by_its_group_until_it_is_taken(
    watch: QueueWatch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, ticker = Running(group=11), Running(group=12)
    watcher = Watcher(watch, worker, ticker)  # type: ignore[arg-type]
    monkeypatch.setattr(TickerWatch, "look", lambda watch: setattr(watch, "working_seconds", 100))
    watcher.look()
    assert watcher.stuck == {}
    silent_for(folder, 30)
    watcher.look()
    assert stuck_groups(watcher) == {11}


def test_a_database_without_an_answer_accuses_nobody(
    watch: QueueWatch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(self: object, *_: object) -> bool:
        raise OperationalError("gone")

    monkeypatch.setattr(QueueWatch, "is_stuck", gone)
    monkeypatch.setattr(TickerWatch, "look", gone)
    monkeypatch.setattr("scaling.supervisor.watch.connection", SimpleNamespace(close=lambda: None))
    watcher = Watcher(watch, Running(), Running())  # type: ignore[arg-type]
    watcher.look()
    assert watcher.stuck == {}
