"""Tasks of slices that a cycle gives up: they wait again, and are demand in that very cycle."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Count

from scaling.autoscaler.cycle import lost_slices
from scaling.autoscaler.models import DemandEntry, Listing
from scaling.loops.autoscaler.demand import job_key, read_entry
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Job, Task


def with_lost_tasks(before: Snapshot, observations: Mapping[str, Listing], now: datetime) -> Snapshot:
    """The snapshot, with the tasks of the slices that will be lost among its demand, where they wait from now on."""
    return with_tasks_of(lost_slices(before.state, observations, now.timestamp()), before, now)


def with_tasks_of(slices: Collection[str], before: Snapshot, now: datetime) -> Snapshot:
    """The snapshot, with the tasks of these slices among its demand; itself where none was lost."""
    lost = _lost_by_job(slices)
    if not lost:
        return before
    jobs = {job_key(job.source, job.job_id): job for job in Job.objects.filter(pk__in=lost)}
    again = {key: lost[job.pk] for key, job in jobs.items()}
    new = [_entry(key, job) for key, job in jobs.items() if key not in before.job_pks]
    return replace(
        before,
        demand=_waiting_again((*before.demand, *new), again, now),
        job_pks={**before.job_pks, **{key: job.pk for key, job in jobs.items()}},
    )


def _lost_by_job(slices: Collection[str]) -> dict[int, int]:
    """How many active tasks of each job (by row id) go with these slices; a gang runs whole or not at all."""
    if not slices:
        return {}
    active = Task.objects.filter(state__in=Task.ACTIVE).order_by()
    there = active.filter(worker__slice__name__in=slices)
    gangs = set(there.filter(job__gang=True).values_list("job_id", flat=True))
    counted: dict[int, int] = dict(there.values_list("job_id").annotate(Count("pk")))
    return counted | dict(active.filter(job_id__in=gangs).values_list("job_id").annotate(Count("pk")))


def _entry(key: str, job: Job) -> DemandEntry:
    """A job none of whose tasks waited."""
    return read_entry(job.spec, key, job.submitted_at, job.priority).waiting(0)


def _waiting_again(entries: Iterable[DemandEntry], again: Mapping[str, int], now: datetime) -> Sequence[DemandEntry]:
    return [
        entry.waiting(entry.tasks + again[entry.job_id], now.timestamp()) if entry.job_id in again else entry
        for entry in entries
    ]
