"""Pending tasks get workers: decided on what was read, stored only where it still holds."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.db.models import QuerySet

from scaling import records
from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.scheduling import Start
from scaling.autoscaler.shapes import UNIT, Need
from scaling.autoscaler.words import DeviceType
from scaling.loops.autoscaler.demand import waiting_jobs
from scaling.loops.scheduler.decide import decide
from scaling.loops.scheduler.rows import UNFINISHED, JobCounts, Moved, count, locked, locked_jobs
from scaling.loops.scheduler.seen import Seen
from scaling.loops.scheduler.told import Told
from scaling.models import Job, Slice, Task

# Tasks started in one round: a thousand jobs that come at once start within seconds, and no round is long.
MOST_STARTS = 500


def place(seen: Seen, now: datetime, told: Told) -> Counter[int]:
    """Start what can start; returns how many tasks came on which worker (by id)."""
    came: Counter[int] = Counter()
    if not seen.ready:
        return came
    hashes = _spec_hashes()
    entries, keys = waiting_jobs()
    found = _decide(seen, entries.values(), now) if entries else []
    jobs = locked_jobs({keys[start.entry.job_id] for start in found})
    jobs = {pk: job for pk, job in jobs.items() if job.spec_hash == hashes.get(pk)}
    held = locked(_open_slices(), {seen.slices[start.slice].pk for start in found})
    kept = _still_possible(found, keys, jobs, {row.name for row in seen.slices.values() if row.pk in held})
    Task.objects.bulk_create(
        task for pk, items in kept.items() for start in items for task in _tasks(pk, jobs[pk], start, seen, now)
    )
    moved = {pk: Moved(started=sum(start.tasks for start in items)) for pk, items in kept.items()}
    told.jobs(jobs, count(jobs, moved, now))
    for start in (start for items in kept.values() for start in items):
        came[seen.worker_id(start.slice, start.worker)] += start.tasks
        told.slice_(start.slice, seen.group_of(seen.slices[start.slice]).name)
    return came


def _decide(seen: Seen, waiting: Iterable[DemandEntry], now: datetime) -> list[Start]:
    serving = {item.group for item in (*seen.ready, *seen.coming)}
    rows = [row for row in seen.groups.values() if row.name in serving]
    return decide(
        [records.group_record(row) for row in rows],
        {row.name: records.control_record(row, None) for row in rows},
        (*seen.ready, *seen.coming),
        waiting,
        now.timestamp(),
        MOST_STARTS,
    )


def _spec_hashes() -> dict[int, str]:
    """Read before the jobs are: a job whose spec is another one under the lock was changed meanwhile, and waits."""
    return dict(Job.objects.filter(state__in=UNFINISHED, pending_tasks__gt=0).order_by().values_list("pk", "spec_hash"))


def _open_slices() -> QuerySet[Slice]:
    """Asked again under the lock: a slice set draining meanwhile gets no task."""
    return Slice.objects.filter(state=Slice.State.READY, drain_since=None, group__drain_since=None)


def _still_possible(
    found: Iterable[Start], keys: Mapping[str, int], jobs: Mapping[int, JobCounts], open_: set[str]
) -> dict[int, list[Start]]:
    """By job id, what may be stored: the job still waits for so many, the slices take them, a gang is whole."""
    by_job: defaultdict[int, list[Start]] = defaultdict(list)
    for start in found:
        by_job[keys[start.entry.job_id]].append(start)
    kept: dict[int, list[Start]] = {}
    for pk, items in by_job.items():
        job = jobs.get(pk)
        possible = [start for start in items if start.slice in open_]
        if job is None or sum(start.tasks for start in items) > job.pending:
            continue
        if possible and not (job.gang and len(possible) < len(items)):
            kept[pk] = possible
    return kept


def _tasks(job_pk: int, job: JobCounts, start: Start, seen: Seen, now: datetime) -> Iterable[Task]:
    need = start.entry.request.shape.need if start.entry.request.shape else Need()
    fields = {
        "worker_id": seen.worker_id(start.slice, start.worker),
        "slice_name": start.slice,
        "cpu": need.cpu / UNIT,
        "memory": need.memory,
        "disk": need.disk,
        "devices": _devices(start, need, seen),
        "ends_at": None if job.run_seconds is None else now + timedelta(seconds=job.run_seconds),
    }
    for _task in range(start.tasks):
        yield Task(job_id=job_pk, state=Task.State.RUNNING, assigned_at=now, **fields)


def _devices(start: Start, need: Need, seen: Seen) -> float:
    """GPUs or the share of one that a task takes; of a TPU worker all chips."""
    shape = start.entry.request.shape
    if shape is not None and shape.device_type is DeviceType.TPU:
        return float(seen.group_of(seen.slices[start.slice]).devices_per_worker)
    return need.devices or need.share / UNIT
