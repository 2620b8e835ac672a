"""The whole pending list of one scheduler: what is added, changed, left alone, cancelled."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from scaling import operations
from scaling.autoscaler.demand import DemandEntry
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.loops import scheduler
from scaling.models import Action, Event, Job, Task, Worker
from scaling.testing.builders import make_group, make_job, make_slice, make_task
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


def _job(job_id: str = "a", **told: Any) -> dict[str, Any]:
    return {"id": job_id, "tasks": 2, "resources": {"cpu": 1}, **told}


def _put(actor: Actor, *jobs: dict[str, Any], source: str = "slurm") -> dict[str, int]:
    """The counts of the report that are not zero."""
    told = operations.put_demand(actor, source, list(jobs)).as_json()
    return {name: count for name, count in told.items() if count and name not in ("source", "listed")}


def _stored(job_id: str = "a") -> Job:
    return Job.objects.get(source="slurm", job_id=job_id)


def _running(job: Job, tasks: int, frozen_clock: FrozenClock) -> list[Task]:
    """Place that many tasks of the job, each on its own busy worker."""
    slice_ = make_slice(make_group(workers_per_slice=tasks), frozen_clock(), idle=None)
    workers = list(slice_.workers.all())
    Worker.objects.filter(slice=slice_).update(idle_since=None)
    job.running_tasks, job.pending_tasks, job.state = tasks, job.tasks - tasks, Job.State.RUNNING
    job.save()
    return [make_task(job, worker, frozen_clock()) for worker in workers]


def test_a_new_job_is_stored_as_it_was_asked_for(actor: Actor, frozen_clock: FrozenClock) -> None:
    told = _job(
        priority=7,
        tier="production",
        gang=True,
        allow_preemptible=True,
        run_seconds=90,
        submitted="2026-01-01T11:59:00Z",
        constraints=["us-central1-b"],
    )
    assert _put(actor, told) == {"added": 1}
    job = _stored()
    assert (job.state, job.tasks, job.pending_tasks, job.running_tasks, job.done_tasks) == ("pending", 2, 2, 0, 0)
    assert (job.priority, job.tier, job.gang, job.run_seconds) == (7, "production", True, 90)
    assert job.submitted_at == frozen_clock() - timedelta(minutes=1)
    assert job.received_at == frozen_clock()
    assert job.spec == {
        "resources": {"cpu": 1},
        "constraints": ["us-central1-b"],
        "tasks": 2,
        "tier": "production",
        "gang": True,
        "allow_preemptible": True,
    }


def test_a_stored_spec_is_the_planners_entry(actor: Actor) -> None:
    _put(actor, _job(resources={"tpu": {"variant": "v5p-8", "count": 3}}, gang=True))
    job = _stored()
    entry = DemandEntry(**job.spec, priority=job.priority, job_id=job.job_id)
    assert (entry.problem, entry.tasks) == ("", 6)
    assert job.tasks == job.pending_tasks == 6


def test_jobs_that_ask_for_the_same_share_a_hash(actor: Actor) -> None:
    _put(actor, _job("a", priority=1), _job("b", priority=2, tier="standard", gang=False, constraints=[]))
    assert _stored("a").spec_hash == _stored("b").spec_hash


def test_the_same_list_again_changes_and_tells_nothing(actor: Actor) -> None:
    _put(actor, _job("a"), _job("b"))
    actions, events = Action.objects.count(), Event.objects.count()
    assert _put(actor, _job("b"), _job("a")) == {"unchanged": 2}
    assert (Action.objects.count(), Event.objects.count()) == (actions, events)


def test_a_list_is_one_action_and_one_event_for_the_lists(actor: Actor) -> None:
    _put(actor, _job("a"), _job("b"))
    action = last_action()
    assert (action.kind, action.target, action.after) == (
        "demand",
        "source slurm",
        {"added": 2, "changed": 0, "cancelled": 0},
    )
    assert topics() == {"jobs", "overview"}


def test_the_same_job_twice_counts_once_and_the_first_wins(actor: Actor) -> None:
    assert _put(actor, _job(priority=1), _job(priority=2), _job(priority=1)) == {"added": 1, "repeated": 2}
    assert _stored().priority == 1


def test_a_job_that_is_no_longer_listed_is_cancelled_and_its_tasks_end(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job("a"), _job("b"))
    task = _running(_stored(), 1, frozen_clock)[0]
    now = frozen_clock.advance(30)
    assert _put(actor, _job("b")) == {"cancelled": 1, "unchanged": 1}
    job = _stored()
    assert (job.state, job.pending_tasks, job.running_tasks, job.finished_at) == ("cancelled", 0, 0, now)
    task.refresh_from_db()
    assert (task.state, task.ended_at) == ("lost", now)
    assert "job:slurm/a" in topics()


def test_the_worker_of_a_cancelled_job_falls_idle_and_its_slice_with_it(
    actor: Actor, frozen_clock: FrozenClock
) -> None:
    _put(actor, _job("a"))
    task = _running(_stored(), 1, frozen_clock)[0]
    _put(actor)
    now = frozen_clock.advance(1)
    scheduler.run(now)
    worker = Worker.objects.select_related("slice").get(pk=task.worker_id)
    assert worker.idle_since == now == worker.slice.idle_since


def test_another_sources_jobs_are_left_alone(actor: Actor) -> None:
    _put(actor, _job("a"), source="k8s")
    assert _put(actor, _job("a")) == {"added": 1}
    assert _put(actor) == {"cancelled": 1}
    assert Job.objects.get(source="k8s").state == "pending"


def test_a_running_job_stays_while_it_is_listed(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job())
    _running(_stored(), 2, frozen_clock)
    assert _put(actor, _job()) == {"unchanged": 1}
    assert _stored().state == "running"


def test_a_new_priority_leaves_running_tasks_alone(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job())
    _running(_stored(), 1, frozen_clock)
    assert _put(actor, _job(priority=900)) == {"changed": 1}
    job = _stored()
    assert (job.priority, job.state, job.running_tasks, job.pending_tasks) == (900, "running", 1, 1)


def test_more_tasks_wait_beside_those_that_run(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job(tasks=3))
    _running(_stored(), 2, frozen_clock)
    assert _put(actor, _job(tasks=5)) == {"changed": 1}
    job = _stored()
    assert (job.tasks, job.running_tasks, job.pending_tasks) == (5, 2, 3)


def test_fewer_tasks_end_the_newest_ones_that_run(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job(tasks=4))
    tasks = _running(_stored(), 3, frozen_clock)
    assert _put(actor, _job(tasks=2)) == {"changed": 1}
    job = _stored()
    assert (job.tasks, job.running_tasks, job.pending_tasks, job.state) == (2, 2, 0, "running")
    assert [Task.objects.get(pk=task.pk).state for task in tasks] == ["running", "running", "lost"]


def test_as_few_tasks_as_are_done_make_a_job_done(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job(tasks=3))
    Job.objects.update(done_tasks=2, pending_tasks=1)
    assert _put(actor, _job(tasks=1)) == {"changed": 1}
    job = _stored()
    assert (job.state, job.done_tasks, job.tasks, job.finished_at) == ("done", 1, 1, frozen_clock())


@pytest.mark.parametrize(
    "change",
    [{"resources": {"cpu": 2}}, {"constraints": ["us-east5-a"]}, {"tier": "batch"}, {"allow_accelerators": True}],
)
def test_a_job_that_asks_for_something_else_starts_over(
    actor: Actor, frozen_clock: FrozenClock, change: dict[str, Any]
) -> None:
    _put(actor, _job())
    _running(_stored(), 1, frozen_clock)
    assert _put(actor, _job(**change)) == {"changed": 1}
    job = _stored()
    assert (job.state, job.pending_tasks, job.running_tasks, job.done_tasks) == ("pending", 2, 0, 0)
    assert not job.task_rows.exists()


def test_a_gang_of_another_size_starts_over(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job(gang=True))
    _running(_stored(), 2, frozen_clock)
    _put(actor, _job(gang=True, tasks=4))
    assert (_stored().pending_tasks, _stored().running_tasks) == (4, 0)


@pytest.mark.parametrize("told", [{}, {"priority": 3}, {"submitted": "2026-01-01T10:00:00Z"}])
def test_a_done_job_is_not_run_again_for_being_listed(
    actor: Actor, frozen_clock: FrozenClock, told: dict[str, Any]
) -> None:
    _put(actor, _job())
    Job.objects.update(state="done", pending_tasks=0, done_tasks=2, finished_at=frozen_clock())
    assert _put(actor, _job(**told)) == {"finished": 1}
    assert _put(actor) == {}
    assert _stored().state == "done"


@pytest.mark.parametrize("told", [{"tasks": 3}, {"run_seconds": 5}, {"submitted": "2026-01-01T12:00:30Z"}])
def test_a_done_job_is_run_again_for_other_work_or_a_later_submission(
    actor: Actor, frozen_clock: FrozenClock, told: dict[str, Any]
) -> None:
    _put(actor, _job())
    Job.objects.update(state="done", pending_tasks=0, done_tasks=2, finished_at=frozen_clock())
    frozen_clock.advance(60)
    assert _put(actor, _job(**told)) == {"added": 1}
    job = _stored()
    assert (job.state, job.pending_tasks, job.done_tasks, job.finished_at) == ("pending", job.tasks, 0, None)


def test_a_cancelled_job_waits_again_when_it_is_listed_again(actor: Actor, frozen_clock: FrozenClock) -> None:
    _put(actor, _job())
    _put(actor)
    now = frozen_clock.advance(60)
    assert _put(actor, _job()) == {"added": 1}
    job = _stored()
    assert (job.state, job.pending_tasks, job.submitted_at, job.finished_at) == ("pending", 2, now, None)


def test_a_submission_in_the_future_is_now(actor: Actor, frozen_clock: FrozenClock) -> None:
    ahead = (frozen_clock() + timedelta(hours=1)).timestamp()
    _put(actor, _job(submitted=ahead))
    assert _stored().submitted_at == frozen_clock()
    frozen_clock.advance(10)
    assert _put(actor, _job(submitted=ahead)) == {"unchanged": 1}


def test_a_job_that_makes_no_sense_as_a_whole_is_stored_for_its_hint(actor: Actor) -> None:
    both = _job("both", resources={"gpu": 1, "tpu": 1})
    torn = _job("torn", constraints=[{"key": "zone", "values": ["a"]}, {"key": "zone", "values": ["b"]}])
    assert _put(actor, both, torn) == {"added": 2}
    assert all(DemandEntry(**job.spec).problem for job in Job.objects.all())


def test_an_empty_list_for_a_new_source_changes_nothing(actor: Actor) -> None:
    assert _put(actor) == {}
    assert nothing_happened()


def test_a_list_takes_few_statements_however_long_it_is(actor: Actor, django_assert_max_num_queries: Any) -> None:
    jobs = [_job(f"j{number}", resources={"cpu": number % 7 + 1}) for number in range(2_000)]
    with django_assert_max_num_queries(20):
        _put(actor, *jobs)
    with django_assert_max_num_queries(10):
        assert _put(actor, *jobs) == {"unchanged": 2_000}
    with django_assert_max_num_queries(30):
        assert _put(actor, *({**job, "priority": 5} for job in jobs)) == {"changed": 2_000}
    assert Job.objects.filter(priority=5).count() == 2_000


def test_a_long_list_is_told_as_a_whole(actor: Actor) -> None:
    jobs = [_job(f"j{number}") for number in range(600)]
    _put(actor, *jobs)
    _put(actor)
    assert topics() == {"jobs", "overview"}


_IDS = st.sampled_from("abcd")
_LISTS = st.lists(
    st.fixed_dictionaries(
        {"id": _IDS, "tasks": st.integers(1, 3), "priority": st.integers(1, 2), "gang": st.booleans()}
    ),
    max_size=5,
)


@given(lists=st.lists(_LISTS, max_size=4))
@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_any_lists_exactly_the_last_one_waits(actor: Actor, lists: list[list[dict[str, Any]]]) -> None:
    Job.objects.all().delete()
    for jobs in lists:
        operations.put_demand(actor, "slurm", jobs)
    wanted = {job["id"]: job for job in reversed(lists[-1])} if lists else {}
    waiting = {job.job_id: job for job in Job.objects.filter(state="pending")}
    assert set(waiting) == set(wanted)
    for job_id, job in waiting.items():
        told = wanted[job_id]
        assert (job.tasks, job.pending_tasks, job.priority, job.gang) == (
            told["tasks"],
            told["tasks"],
            told["priority"],
            told["gang"],
        )


def test_jobs_of_other_hands_do_not_disturb(actor: Actor, frozen_clock: FrozenClock) -> None:
    make_job(frozen_clock(), "x", source="demo")
    _put(actor, _job("x"))
    assert Job.objects.filter(job_id="x").count() == 2
