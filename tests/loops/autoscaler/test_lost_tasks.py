"""Tasks of a slice that a cycle gives up wait again in that cycle, and are served by it."""

import pytest

from scaling.autoscaler.models import CycleResult
from scaling.loops.autoscaler import snapshot, still_holds
from scaling.models import Event, Group, Hint, Job, Slice, Task, Worker
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, listed


def running(iris: ControlPlane, job: str, *workers: Worker, gang: bool = False, waiting: int = 0) -> Job:
    tasks = len(workers) + waiting
    spec = {"resources": {"tpu": {"variant": "v5p-8", "count": 1}}, "tasks": tasks, "gang": gang}
    row = builders.make_job(
        iris.clock(),
        job,
        spec=spec,
        tasks=tasks,
        gang=gang,
        state=Job.State.RUNNING,
        pending_tasks=waiting,
        running_tasks=len(workers),
        submitted_at=builders.before(iris.clock(), 5000),
    )
    for worker in workers:
        builders.make_task(row, worker, iris.clock())
    return row


def slice_(iris: ControlPlane, name: str, group: str = "v5p", idle: float | None = 0) -> Slice:
    found = Group.objects.filter(name=group).first() or builders.make_group(
        group, platform=iris.row, max_slices=4, workers_per_slice=2
    )
    row = builders.make_slice(found, iris.clock(), name=name, idle=idle)
    listed(iris, row)
    return row


def lose(iris: ControlPlane, name: str) -> None:
    """Its cloud says that it failed; one look is enough to know."""
    iris.platform.make_failed(name, "the instance was preempted")
    iris.later(10)


def counts(job: Job) -> tuple[str, int, int]:
    job.refresh_from_db()
    return job.state, job.pending_tasks, job.running_tasks


def test_tasks_of_a_lost_slice_are_bought_for_in_the_cycle_that_loses_it(iris: ControlPlane) -> None:
    first = slice_(iris, "s1", idle=None)
    job = running(iris, "train", *first.workers.all())
    lose(iris, "s1")
    iris.cycle()
    assert counts(job) == ("pending", 2, 0)
    assert [task.state for task in Task.objects.all()] == ["lost", "lost"]
    assert iris.states() == {"FAILED": 1, "BOOTING": 1}
    assert Hint.objects.get().code == "scaling_up"
    assert Event.objects.filter(topic="job:demo/train", kind="job").exists()


def test_what_was_lost_comes_beside_what_waited_already(iris: ControlPlane) -> None:
    first = slice_(iris, "s1", idle=None)
    job = running(iris, "train", *first.workers.all(), waiting=1)
    lose(iris, "s1")
    iris.cycle()
    assert counts(job) == ("pending", 3, 0)
    assert iris.states() == {"FAILED": 1, "BOOTING": 2}


def test_tasks_elsewhere_go_on_unless_they_are_of_the_same_gang(iris: ControlPlane) -> None:
    one, other = slice_(iris, "s1", idle=None), slice_(iris, "s2", idle=None)
    gang = running(iris, "gang", one.workers.all()[0], other.workers.all()[0], gang=True)
    single = running(iris, "single", one.workers.all()[1], other.workers.all()[1])
    lose(iris, "s1")
    iris.cycle()
    assert counts(gang) == ("pending", 2, 0)
    assert counts(single) == ("running", 1, 1)


def test_idle_room_that_was_there_before_serves_what_was_lost_and_nothing_is_bought(iris: ControlPlane) -> None:
    first = slice_(iris, "s1", idle=None)
    slice_(iris, "s2", idle=200)
    running(iris, "train", *first.workers.all())
    lose(iris, "s1")
    iris.cycle()
    assert iris.states() == {"FAILED": 1, "READY": 1}
    assert not Hint.objects.exists()


def test_a_cycle_that_aborts_loses_no_task(iris: ControlPlane) -> None:
    first = slice_(iris, "s1", idle=None)
    job = running(iris, "train", *first.workers.all())
    lose(iris, "s1")
    iris.platform.fail("list", "503 from the API")
    iris.cycle()
    assert counts(job) == ("running", 0, 2)


def test_a_lost_slice_without_tasks_makes_no_demand(iris: ControlPlane) -> None:
    slice_(iris, "s1")
    lose(iris, "s1")
    iris.cycle()
    assert iris.states() == {"FAILED": 1}


@pytest.mark.parametrize("twice", [False, True])
def test_what_the_plan_lost_is_counted_once_however_often_it_plans(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, twice: bool
) -> None:
    first = slice_(iris, "s1", idle=None)
    job = running(iris, "train", *first.workers.all())
    lose(iris, "s1")
    if twice:
        check, refusals = still_holds.check, [still_holds.Stale("a group")]

        def refuse_once(result: CycleResult, before: snapshot.Snapshot) -> None:
            if refusals:
                raise refusals.pop()
            check(result, before)

        monkeypatch.setattr(still_holds, "check", refuse_once)
    iris.cycle()
    assert counts(job) == ("pending", 2, 0)
    assert iris.states() == {"FAILED": 1, "BOOTING": 1}
