"""The scheduler over many rounds while jobs come and go, slices drain, boot and are lost: its books always add up."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from scaling.loops import scheduler
from scaling.models import Group, Job, Slice, Task, Worker
from scaling.testing.builders import make_group, make_job, make_slice
from tests.loops.test_scheduler_rules import can_hold

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROUNDS = 25
MILLION = 1_000_000


@pytest.mark.parametrize("seed", range(5))
def test_the_books_add_up_after_every_round(seed: int) -> None:
    chance = Random(seed)
    groups = [
        make_group("cpu", device_type="cpu", device_variant="", devices_per_worker=0, worker_cpu=8),
        make_group("gpu", device_type="gpu", device_variant="h100", devices_per_worker=2, worker_cpu=16),
        make_group("tpu", device_variant="v5p-16", workers_per_slice=2),
    ]
    started = 0
    for number in range(ROUNDS):
        now = NOW + timedelta(seconds=7 * number)
        for _ in range(3):
            disturb(chance, groups, now, number)
        before = set(Task.objects.values_list("pk", flat=True))
        scheduler.run(now)
        new = Task.objects.exclude(pk__in=before)
        started += new.count()
        assert not new.exclude(worker__slice__state="READY", worker__slice__drain_since=None).exists()
        jobs_add_up()
        workers_hold(now)
    assert started > 5


def disturb(chance: Random, groups: list[Group], now: datetime, number: int) -> None:
    """Something happens in the cluster between two rounds."""
    what = chance.choice(["job", "job", "job", "slice", "slice", "drain", "end", "silence", "cancel"])
    slices = list(Slice.objects.filter(state="READY").order_by("name"))
    if what == "job":
        submit(chance, now)
    elif what == "slice":
        make_slice(chance.choice(groups), now, name=f"s-{number}-{Slice.objects.count()}")
    elif slices and what in ("drain", "end"):
        state = {"drain": "DRAINING", "end": "TERMINATING"}[what]
        Slice.objects.filter(pk=chance.choice(slices).pk).update(state=state)
    elif slices and what == "silence":
        worker = Worker.objects.filter(slice=chance.choice(slices)).order_by("index")[0]
        state = "READY" if worker.state == "UNKNOWN" else "UNKNOWN"
        Worker.objects.filter(pk=worker.pk).update(state=state, unknown_since=now if state == "UNKNOWN" else None)
    elif what == "cancel":
        job = Job.objects.filter(state__in=("pending", "running")).order_by("job_id").first()
        if job is not None:
            Task.objects.filter(job=job, state__in=Task.ACTIVE).update(state="lost", ended_at=now)
            Job.objects.filter(pk=job.pk).update(state="cancelled", pending_tasks=0, running_tasks=0)


def submit(chance: Random, now: datetime) -> None:
    tasks, gang = chance.randint(1, 5), chance.random() < 0.3
    resources: dict[str, Any] = chance.choice(
        [
            {"cpu": 3},
            {"cpu": "500m"},
            {"gpu": 1},
            {"gpu": chance.choice([0.3, 0.5, 0.6])},
            {"tpu": {"variant": "v5p-16"}},
        ]
    )
    tasks = 2 * chance.randint(1, 2) if gang else tasks
    make_job(
        now,
        tasks=tasks,
        gang=gang,
        spec={"resources": resources, "tasks": tasks, "gang": gang},
        run_seconds=chance.choice([5, 20, 60, None]),
        priority=chance.choice([50, 100, 200]),
        submitted_at=now,
    )


def jobs_add_up() -> None:
    active = Counter(Task.objects.filter(state__in=Task.ACTIVE).values_list("job_id", flat=True))
    done = Counter(Task.objects.filter(state="done").values_list("job_id", flat=True))
    for job in Job.objects.exclude(state="cancelled"):
        assert (job.running_tasks, job.done_tasks) == (active[job.pk], done[job.pk])
        assert job.pending_tasks + job.running_tasks + job.done_tasks == job.tasks
        wanted = "done" if job.done_tasks == job.tasks else "running" if job.running_tasks else "pending"
        assert job.state == wanted
        if job.gang and job.running_tasks:
            rows = Task.objects.filter(job=job, state__in=Task.ACTIVE)
            assert job.pending_tasks == 0
            assert rows.values("worker").distinct().count() == job.running_tasks
            assert rows.values("worker__slice__group").distinct().count() == 1


def workers_hold(now: datetime) -> None:
    by_worker: defaultdict[int, list[Task]] = defaultdict(list)
    for task in Task.objects.filter(state__in=Task.ACTIVE):
        assert task.worker_id is not None
        by_worker[task.worker_id].append(task)
    for worker in Worker.objects.filter(slice__state__in=("READY", "DRAINING")).select_related("slice__group"):
        tasks = by_worker.pop(worker.pk, [])
        of = worker.slice.group
        assert (worker.idle_since is None) == bool(tasks or worker.state != "READY")
        assert sum(task.cpu for task in tasks) <= (of.worker_cpu or 1e9)
        wanted = [round(task.devices % 1 * MILLION) for task in tasks if task.devices % 1]
        wanted += [MILLION] * sum(int(task.devices) for task in tasks)
        assert can_hold([0] * of.devices_per_worker, sorted(wanted, reverse=True))
        assert of.device_type != "tpu" or len(tasks) <= 1
    assert not by_worker, "a task is active on a slice that does not serve"
    for row in Slice.objects.filter(state__in=("READY", "DRAINING")):
        times = list(row.workers.values_list("idle_since", flat=True))
        assert row.idle_since == (None if None in times else max(time for time in times if time))
