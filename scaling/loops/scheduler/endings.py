"""Tasks that are over: done at their time, or lost with their slice."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet

from scaling.loops.scheduler.rows import JobCounts, Moved, batches, count, locked, locked_jobs
from scaling.loops.scheduler.told import Told
from scaling.models import Slice, Task

# Tasks go on while their slice drains; in any other state it is going or gone, and they with it.
_CARRIES_TASKS = (Slice.State.READY, Slice.State.DRAINING)


@dataclass(frozen=True, slots=True)
class _Over:
    """An active task that is over, and where it ran ("" where its slice's rows are gone already)."""

    pk: int
    slice: str
    group: str


def finish(now: datetime, told: Told) -> None:
    """End the tasks whose time has come, and jobs with their last task."""
    due = _by_job(Task.objects.filter(state__in=Task.ACTIVE, ends_at__lte=now, worker__slice__state__in=_CARRIES_TASKS))
    jobs = locked_jobs(due)
    over = _held({job: tasks for job, tasks in due.items() if job in jobs}, jobs)
    for some in batches([task.pk for tasks in over.values() for task in tasks]):
        Task.objects.filter(pk__in=some).update(state=Task.State.DONE, ended_at=F("ends_at"))
    _tell(over, jobs, count(jobs, {job: Moved(done=len(tasks)) for job, tasks in over.items()}, now), told)


def lose(now: datetime, told: Told) -> None:
    """Tasks of slices that are going or gone are pending again; a gang is lost whole, since it only runs whole."""
    gone = Q(worker__isnull=True) | ~Q(worker__slice__state__in=_CARRIES_TASKS)
    lost = _by_job(Task.objects.filter(gone, state__in=Task.ACTIVE))
    jobs = locked_jobs(lost)
    over = {job: tasks for job, tasks in lost.items() if job in jobs}
    for gangs in batches([job for job, counts in jobs.items() if counts.gang]):
        over.update(_by_job(Task.objects.filter(job__in=gangs, state__in=Task.ACTIVE)))
    over = _held(over, jobs)
    for some in batches([task.pk for tasks in over.values() for task in tasks]):
        Task.objects.filter(pk__in=some).update(state=Task.State.LOST, ended_at=now)
    _tell(over, jobs, count(jobs, {job: Moved(lost=len(tasks)) for job, tasks in over.items()}, now), told)


def _held(over: Mapping[int, list[_Over]], jobs: Mapping[int, JobCounts]) -> dict[int, list[_Over]]:
    """Those of the tasks that this transaction holds from now on; of a gang all or none."""
    free = locked(Task.objects.all(), [task.pk for tasks in over.values() for task in tasks])
    held = {job: [task for task in tasks if task.pk in free] for job, tasks in over.items()}
    return {job: tasks for job, tasks in held.items() if tasks and not (jobs[job].gang and len(tasks) < len(over[job]))}


def _by_job(tasks: QuerySet[Task]) -> dict[int, list[_Over]]:
    found: defaultdict[int, list[_Over]] = defaultdict(list)
    where = ("worker__slice__name", "worker__slice__group__name")
    for pk, job, name, group in tasks.order_by().values_list("pk", "job_id", *where):
        found[job].append(_Over(pk, name or "", group or ""))
    return found


def _tell(
    over: Mapping[int, list[_Over]], jobs: Mapping[int, JobCounts], states: Mapping[int, str], told: Told
) -> None:
    told.jobs(jobs, states)
    for task in (task for tasks in over.values() for task in tasks if task.slice):
        told.slice_(task.slice, task.group)
