"""Pending tasks get workers: decided on what was read, stored only where it still holds."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.db.models import QuerySet

from scaling.autoscaler.shapes import UNIT
from scaling.loops.autoscaler.demand import waiting_jobs
from scaling.loops.scheduler.assign import Assignment, assign
from scaling.loops.scheduler.rows import UNFINISHED, JobCounts, Moved, count, locked, locked_jobs
from scaling.loops.scheduler.seen import Seen, promised_groups
from scaling.loops.scheduler.told import Told
from scaling.models import Job, Slice, Task

# Tasks started in one round: a thousand jobs that come at once start within seconds, and no round is long.
MOST_STARTS = 500


def place(seen: Seen, now: datetime, told: Told) -> Counter[int]:
    """Start what can start; returns how many tasks came on which worker (by id)."""
    if not seen.places:
        return Counter()
    hashes = _spec_hashes()
    entries, keys = waiting_jobs()
    decided = assign(seen.groups, seen.places, entries.values(), promised_groups(), now.timestamp(), MOST_STARTS)
    jobs = locked_jobs({keys[item.job] for item in decided})
    jobs = {pk: job for pk, job in jobs.items() if job.spec_hash == hashes.get(pk)}
    open_ = locked(_open_slices(), {seen.slices[item.place].pk for item in decided})
    kept = _still_possible(decided, keys, jobs, {row.name for row in seen.slices.values() if row.pk in open_})
    moved = {pk: Moved(started=sum(item.tasks for item in items)) for pk, items in kept.items()}
    Task.objects.bulk_create(
        task for pk, items in kept.items() for item in items for task in _tasks(pk, jobs[pk], item, now)
    )
    told.jobs(jobs, count(jobs, moved, now))
    came: Counter[int] = Counter()
    for item in (item for items in kept.values() for item in items):
        came[item.worker] += item.tasks
        told.slice_(item.place, seen.group_names[seen.slices[item.place].group_id])
    return came


def _spec_hashes() -> dict[int, str]:
    """Read before the jobs are: a job whose spec is another one under the lock was changed meanwhile, and waits."""
    return dict(Job.objects.filter(state__in=UNFINISHED, pending_tasks__gt=0).order_by().values_list("pk", "spec_hash"))


def _open_slices() -> QuerySet[Slice]:
    """Asked again under the lock: a slice set draining meanwhile gets no task."""
    return Slice.objects.filter(state=Slice.State.READY, drain_since=None, group__drain_since=None)


def _still_possible(
    decided: Iterable[Assignment], keys: Mapping[str, int], jobs: Mapping[int, JobCounts], open_: set[str]
) -> dict[int, list[Assignment]]:
    """By job id, what may be stored: the job still waits for so many, the slices take them, a gang is whole."""
    by_job: defaultdict[int, list[Assignment]] = defaultdict(list)
    for item in decided:
        by_job[keys[item.job]].append(item)
    kept: dict[int, list[Assignment]] = {}
    for pk, items in by_job.items():
        job = jobs.get(pk)
        possible = [item for item in items if item.place in open_]
        if job is None or sum(item.tasks for item in items) > job.pending:
            continue
        if possible and not (job.gang and len(possible) < len(items)):
            kept[pk] = possible
    return kept


def _tasks(job_pk: int, job: JobCounts, item: Assignment, now: datetime) -> Iterable[Task]:
    ends_at = None if job.run_seconds is None else now + timedelta(seconds=job.run_seconds)
    for _task in range(item.tasks):
        yield Task(
            job_id=job_pk,
            worker_id=item.worker,
            state=Task.State.RUNNING,
            cpu=item.need.cpu / UNIT,
            memory=item.need.memory,
            disk=item.need.disk,
            devices=item.devices,
            assigned_at=now,
            ends_at=ends_at,
        )
