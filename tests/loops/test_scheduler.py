"""The built-in scheduler on stored rows: tasks start, end, are lost with their slice, and who is idle since when."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scaling.loops import scheduler
from scaling.loops.scheduler import placing
from scaling.models import Event, Group, Job, Slice, Task, Worker
from scaling.testing.builders import make_group, make_job, make_platform, make_slice

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def cpu_group(name: str = "cpu", **fields: Any) -> Group:
    shape = {"device_type": "cpu", "device_variant": "", "devices_per_worker": 0, "worker_cpu": 8}
    return make_group(name, **(shape | fields))


def cpu_job(tasks: int = 1, cpu: float = 2, seconds: float | None = 60, **fields: Any) -> Job:
    spec = {"resources": {"cpu": cpu}} | ({"tasks": tasks} if tasks > 1 else {}) | fields.pop("spec", {})
    return make_job(NOW, tasks=tasks, spec=spec, run_seconds=seconds, **fields)


def gang(tasks: int, **fields: Any) -> Job:
    spec = {"resources": {"tpu": {"variant": "v5p-16"}}, "tasks": tasks, "gang": True}
    return make_job(NOW, tasks=tasks, spec=spec, gang=True, **fields)


def counts(job: Job) -> tuple[str, int, int, int]:
    job.refresh_from_db()
    return job.state, job.pending_tasks, job.running_tasks, job.done_tasks


def idle(row: Slice) -> tuple[list[datetime | None], datetime | None]:
    row.refresh_from_db()
    return list(row.workers.values_list("idle_since", flat=True)), row.idle_since


def test_a_task_remembers_where_it_ran_when_its_worker_is_gone() -> None:
    row = make_slice(cpu_group(), NOW, idle=100)
    cpu_job()
    scheduler.run(at(0))
    scheduler.run(at(60))
    row.workers.all().delete()
    task = Task.objects.get()
    assert (task.worker, task.slice_name, task.state) == (None, row.name, "done")


def test_a_pending_task_starts_on_a_ready_worker_and_ends_after_its_run_time() -> None:
    row = make_slice(cpu_group(), NOW, idle=100)
    job = cpu_job(tasks=3)
    scheduler.run(at(0))
    assert counts(job) == ("running", 0, 3, 0)
    assert {(t.state, t.cpu, t.assigned_at, t.ends_at) for t in Task.objects.all()} == {("running", 2.0, at(0), at(60))}
    assert idle(row) == ([None], None)
    scheduler.run(at(59.9))
    assert counts(job) == ("running", 0, 3, 0)
    scheduler.run(at(60))
    assert counts(job) == ("done", 0, 0, 3)
    assert job.finished_at == at(60)
    assert set(Task.objects.values_list("state", "ended_at")) == {("done", at(60))}
    assert idle(row) == ([at(60)], at(60))


def test_what_does_not_fit_waits_and_starts_when_room_is_free() -> None:
    make_slice(cpu_group(), NOW)
    first, second = cpu_job(tasks=3, seconds=10), cpu_job(tasks=3, seconds=10)
    scheduler.run(at(0))
    assert counts(first) == ("running", 0, 3, 0)
    assert counts(second) == ("running", 2, 1, 0)
    scheduler.run(at(10))
    assert (counts(first)[0], counts(second)) == ("done", ("running", 0, 2, 1))
    scheduler.run(at(20))
    assert counts(second) == ("done", 0, 0, 3)


def test_a_task_without_a_run_time_runs_until_its_job_goes() -> None:
    make_slice(cpu_group(), NOW)
    job = cpu_job(seconds=None)
    scheduler.run(at(0))
    scheduler.run(at(1_000_000))
    assert counts(job) == ("running", 0, 1, 0)
    assert Task.objects.get().ends_at is None


def test_jobs_are_served_by_priority_then_submission_then_id() -> None:
    make_slice(cpu_group(worker_cpu=2), NOW)
    make_slice(cpu_group("cpu-2", worker_cpu=2), NOW)
    late = cpu_job(job_id="a", submitted_at=at(-10))
    early = cpu_job(job_id="b", submitted_at=at(-20))
    urgent = cpu_job(job_id="c", submitted_at=at(-1), priority=200)
    scheduler.run(at(0))
    assert [counts(job)[0] for job in (late, early, urgent)] == ["pending", "running", "running"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"state": "DRAINING"}, "it drains"),
        ({"drain_since": NOW}, "an operator drains it"),
        ({"state": "BOOTING"}, "it still boots"),
        ({"state": "TERMINATING"}, "it ends"),
    ],
)
def test_a_slice_that_does_not_serve_gets_no_task(fields: dict[str, Any], why: str) -> None:
    make_slice(cpu_group(), NOW, **fields)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "pending", why


def test_a_draining_group_gets_no_task_and_a_paused_one_does() -> None:
    make_slice(cpu_group("drained", drain_since=NOW), NOW)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"
    make_slice(cpu_group("paused", pause_since=NOW), NOW)
    scheduler.run(at(1))
    assert counts(job)[0] == "running"


def test_a_slice_set_draining_while_the_round_decides_gets_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    row = make_slice(cpu_group(), NOW)
    job = cpu_job()
    after_decision(monkeypatch, lambda: Slice.objects.filter(pk=row.pk).update(state="DRAINING"))
    scheduler.run(at(0))
    assert counts(job) == ("pending", 1, 0, 0)
    assert not Task.objects.exists()


def test_a_gang_that_loses_a_slice_while_the_round_decides_is_not_started_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = make_group("g", device_variant="v5p-16", workers_per_slice=2)
    first, _ = make_slice(group, NOW), make_slice(group, NOW)
    job = gang(4)
    after_decision(monkeypatch, lambda: Slice.objects.filter(pk=first.pk).update(drain_since=NOW))
    scheduler.run(at(0))
    assert counts(job) == ("pending", 4, 0, 0)


def test_a_job_whose_spec_changes_while_the_round_decides_waits_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    make_slice(cpu_group(), NOW)
    job = cpu_job()
    after_decision(monkeypatch, lambda: Job.objects.filter(pk=job.pk).update(spec_hash="other"))
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"


def after_decision(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """Something happens between a round's decision and its locks."""
    decide = placing.decide

    def decide_and_then(*arguments: Any) -> Any:
        decided = decide(*arguments)
        assert decided
        then()
        return decided

    monkeypatch.setattr(placing, "decide", decide_and_then)


def test_workers_of_real_platforms_are_left_to_their_own_scheduler() -> None:
    real = make_platform("gcp", kind="gcp", simulated=False)
    row = make_slice(cpu_group(platform=real), NOW, idle=None)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"
    assert idle(row) == ([None], None)
    stand_in = make_platform("coreweave", kind="coreweave", simulated=True)
    make_slice(cpu_group("stand-in", platform=stand_in), NOW)
    scheduler.run(at(1))
    assert counts(job)[0] == "running"


def test_a_gang_starts_whole_with_one_task_per_worker_or_not_at_all() -> None:
    group = make_group("g", device_variant="v5p-16", workers_per_slice=2)
    make_slice(group, NOW)
    job = gang(4)
    scheduler.run(at(0))
    assert counts(job) == ("pending", 4, 0, 0)
    make_slice(group, NOW)
    scheduler.run(at(1))
    assert counts(job) == ("running", 0, 4, 0)
    assert Task.objects.values("worker").distinct().count() == 4
    assert set(Task.objects.values_list("devices", flat=True)) == {4.0}


def test_slices_kept_for_a_gang_serve_it_alone_while_it_waits() -> None:
    group = make_group("g", device_variant="v5p-16", workers_per_slice=2)
    make_slice(group, NOW, gang="demo:big", gang_since=NOW)
    other, big = gang(2, job_id="other", submitted_at=at(-500)), gang(4, job_id="big")
    scheduler.run(at(0))
    assert [counts(job)[0] for job in (other, big)] == ["pending", "pending"]
    make_slice(group, NOW, gang="demo:big", gang_since=NOW)
    scheduler.run(at(1))
    assert [counts(job)[0] for job in (other, big)] == ["pending", "running"]
    Job.objects.filter(pk=big.pk).update(state="cancelled", pending_tasks=0)
    Task.objects.all().delete()
    scheduler.run(at(2))
    assert counts(other)[0] == "running"


def test_a_gang_waits_in_the_group_that_buys_for_it() -> None:
    buying = make_group("buying", device_variant="v5p-16", workers_per_slice=2)
    make_slice(buying, NOW, state="BOOTING", gang="demo:big", gang_since=NOW)
    make_slice(make_group("free", device_variant="v5p-16", workers_per_slice=2), NOW)
    job = gang(2, job_id="big")
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"


def test_tasks_of_a_slice_that_is_lost_are_pending_again_and_run_elsewhere() -> None:
    group = cpu_group(workers_per_slice=2)
    row = make_slice(group, NOW)
    job = cpu_job(tasks=8, cpu=2, seconds=60)
    scheduler.run(at(0))
    Slice.objects.filter(pk=row.pk).update(state="TERMINATING")
    scheduler.run(at(10))
    assert counts(job) == ("pending", 8, 0, 0)
    assert set(Task.objects.values_list("state", "ended_at")) == {("lost", at(10))}
    make_slice(group, NOW)
    scheduler.run(at(11))
    scheduler.run(at(71))
    assert counts(job) == ("done", 0, 0, 8)


def test_tasks_whose_worker_row_is_gone_are_lost_too() -> None:
    row = make_slice(cpu_group(), NOW)
    job = cpu_job()
    scheduler.run(at(0))
    Worker.objects.filter(slice=row).delete()
    scheduler.run(at(1))
    assert counts(job) == ("pending", 1, 0, 0)


def test_a_gang_that_loses_one_slice_is_lost_whole() -> None:
    group = make_group("g", device_variant="v5p-16", workers_per_slice=2)
    rows = [make_slice(group, NOW) for _ in range(2)]
    job = gang(4)
    scheduler.run(at(0))
    Slice.objects.filter(pk=rows[0].pk).update(state="TERMINATING")
    scheduler.run(at(5))
    assert counts(job) == ("pending", 4, 0, 0)
    assert idle(rows[1]) == ([at(5), at(5)], at(5))


def test_tasks_go_on_while_their_slice_drains() -> None:
    row = make_slice(cpu_group(), NOW)
    job = cpu_job()
    scheduler.run(at(0))
    Slice.objects.filter(pk=row.pk).update(state="DRAINING")
    scheduler.run(at(30))
    assert counts(job)[0] == "running"
    scheduler.run(at(60))
    assert counts(job)[0] == "done"
    assert idle(row) == ([at(60)], at(60))


def test_a_new_worker_is_idle_from_the_first_round_that_sees_it_and_keeps_that_time() -> None:
    row = make_slice(cpu_group(workers_per_slice=2), NOW, idle=None)
    scheduler.run(at(0))
    scheduler.run(at(50))
    assert idle(row) == ([at(0), at(0)], at(0))


def test_a_slice_is_idle_since_the_last_of_its_workers() -> None:
    row = make_slice(cpu_group(workers_per_slice=2, worker_cpu=2), NOW, idle=100)
    cpu_job(seconds=10)
    cpu_job(seconds=30)
    scheduler.run(at(0))
    scheduler.run(at(10))
    times, slice_idle = idle(row)
    assert (sorted(times, key=str), slice_idle) == ([at(10), None], None)
    scheduler.run(at(30))
    assert idle(row)[1] == at(30)


def test_a_silent_worker_is_not_idle_gets_nothing_and_begins_a_new_window_when_back() -> None:
    row = make_slice(cpu_group(), NOW, idle=1000)
    Worker.objects.update(state="UNKNOWN", unknown_since=NOW)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"
    assert idle(row) == ([None], None)
    job.delete()
    Worker.objects.update(state="READY", unknown_since=None)
    scheduler.run(at(20))
    assert idle(row) == ([at(20)], at(20))


def test_nothing_new_starts_on_a_slice_that_misses_a_worker() -> None:
    row = make_slice(cpu_group(workers_per_slice=2), NOW)
    Worker.objects.filter(slice=row, index=0).update(state="NOT_FOUND", not_found_count=1)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"
    assert idle(row)[1] is None


def test_what_a_worker_reports_beside_iris_is_activity() -> None:
    row = make_slice(cpu_group(), NOW, idle=100)
    Worker.objects.update(reported_tasks=2)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "pending"
    assert idle(row) == ([None], None)


def test_each_changed_thing_is_told_once_per_round_and_a_quiet_round_tells_nothing() -> None:
    row = make_slice(cpu_group(), NOW)
    job = cpu_job(tasks=4)
    scheduler.run(at(0))
    told = list(Event.objects.values_list("topic", "kind", "payload"))
    assert told == [
        (f"job:demo/{job.job_id}", "job", {"source": "demo", "id": job.job_id, "state": "running"}),
        (f"slice:{row.name}", "activity", {"name": row.name, "group": "cpu"}),
        ("group:cpu", "activity", {"name": "cpu"}),
        ("overview", "activity", {"jobs": 1, "slices": 1}),
    ]
    scheduler.run(at(1))
    assert Event.objects.count() == len(told)


def test_a_job_that_is_no_request_and_a_cancelled_one_hold_nothing_up() -> None:
    make_slice(cpu_group(), NOW)
    cpu_job(spec={"resources": {"gpu": 1, "tpu": 1}}, priority=500)
    cpu_job(state="cancelled", pending_tasks=0, priority=400)
    job = cpu_job()
    scheduler.run(at(0))
    assert counts(job)[0] == "running"
    assert Task.objects.count() == 1
