"""One order of locks: whoever would wait the other way round leaves for the next round what another holds."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from pytest_django import Settings

from scaling.activity import end_tasks, forget_workers_of
from scaling.loops import retention, scheduler
from scaling.models import Job, Task, Worker
from scaling.testing.builders import make_group, make_job, make_slice, make_task

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECONDS = 10


@contextmanager
def held(*rows: QuerySet[Job] | QuerySet[Task]) -> Iterator[None]:
    """Another transaction holds these rows meanwhile."""
    holds, done = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                for some in rows:
                    list(some.select_for_update().order_by("pk"))
                holds.set()
                done.wait(SECONDS)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(hold)
        assert holds.wait(SECONDS)
        try:
            yield
        finally:
            done.set()
            other.result(SECONDS)


def without_waiting(act: Callable[[], object]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '200ms'")
        act()


def job_on(workers: list[Worker], gang: bool = False, **fields: object) -> Job:
    count = len(workers)
    job = make_job(NOW, tasks=count, pending_tasks=0, running_tasks=count, state="running", gang=gang)
    for worker in workers:
        make_task(job, worker, NOW, **fields)
    return job


def workers(count: int) -> list[Worker]:
    return list(make_slice(make_group("g", workers_per_slice=count), NOW, idle=None, name="s1").workers.all())


def states(job: Job) -> list[str]:
    return list(job.task_rows.order_by("pk").values_list("state", flat=True))


def test_a_round_ends_the_tasks_that_are_free_and_the_others_in_the_next_one() -> None:
    job = job_on(workers(2), ends_at=NOW)
    first = job.task_rows.order_by("pk")[0].pk
    with held(Task.objects.filter(pk=first)):
        without_waiting(lambda: scheduler.run(NOW))
        assert states(job) == ["running", "done"]
    scheduler.run(NOW + timedelta(seconds=1))
    job.refresh_from_db()
    assert (states(job), job.state, job.done_tasks, job.running_tasks) == (["done", "done"], "done", 2, 0)


def test_a_gang_is_lost_whole_even_when_one_task_of_it_is_held() -> None:
    there = workers(2)
    job = job_on(there, gang=True)
    there[0].slice.__class__.objects.update(state="TERMINATING")
    with held(job.task_rows.filter(worker=there[0])):
        without_waiting(lambda: scheduler.run(NOW))
        assert states(job) == ["running", "running"]
    scheduler.run(NOW + timedelta(seconds=1))
    job.refresh_from_db()
    assert (states(job), job.state, job.pending_tasks) == (["lost", "lost"], "pending", 2)


def test_a_job_that_is_asked_for_again_is_not_removed_at_that_moment(settings: Settings) -> None:
    settings.IRIS_KEEP_JOBS_DAYS = 7
    old = NOW - timedelta(days=8)
    jobs = [make_job(NOW, state="done", finished_at=old) for _ in range(2)]
    with held(Job.objects.filter(pk=jobs[0].pk)):
        retention.run(NOW)
        assert list(Job.objects.all()) == [jobs[0]]
    retention.run(NOW)
    assert not Job.objects.exists()


def test_those_who_end_the_same_tasks_wait_for_each_other_in_one_order() -> None:
    """Each of the two would have the tasks in another order: one comes from the workers, one from a list of ids."""
    there = workers(20)
    job = job_on(there)
    pks = list(job.task_rows.values_list("pk", flat=True))

    def at_once(act: Callable[[], object]) -> None:
        try:
            for _ in range(15):
                with transaction.atomic():
                    act()
                    if act is not forget:
                        Task.objects.filter(pk__in=pks).update(state="running")
                    transaction.set_rollback(True)
        finally:
            connection.close()

    def forget() -> None:
        forget_workers_of(["s1"])

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(at_once, act) for act in (forget, lambda: end_tasks(reversed(pks), NOW))]
        for one in both:
            one.result(30)
    with transaction.atomic():
        forget()
    assert not Worker.objects.exists()
    assert job.task_rows.filter(worker=None).count() == 20
