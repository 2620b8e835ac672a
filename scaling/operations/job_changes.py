"""How a stored job becomes what its scheduler now asks for: in place where it can, else from the start."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from scaling.activity import end_tasks, end_tasks_of
from scaling.models import Job, Task
from scaling.operations.job_requests import JobRequest


class Known(NamedTuple):
    """What is compared of a stored job; the spec itself stays in the database."""

    pk: int
    job_id: str
    state: str
    spec_hash: str
    priority: int
    run_seconds: float | None
    submitted_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, job: Job) -> "Known":
        return cls(*(getattr(job, name) for name in cls._fields))


def wants_change(known: Known, request: JobRequest, now: datetime) -> bool:
    """Whether the stored job is to become something else: it differs, or it has ended and is to run again."""
    other_work = known.spec_hash != request.spec.hash or known.run_seconds != request.run_seconds
    if known.state == Job.State.CANCELLED:
        return True
    if known.state == Job.State.DONE:
        # Submitted again since, under the same id; an earlier time is the same submission told more exactly.
        return other_work or (request.submitted is not None and request.submitted > (known.finished_at or now))
    submitted = submitted_at(request, known.submitted_at, now)
    return other_work or known.priority != request.priority or submitted != known.submitted_at


def submitted_at(request: JobRequest, otherwise: datetime, now: datetime) -> datetime:
    """The time of submission that was told; `otherwise` where none was or it has not come yet."""
    return otherwise if request.submitted is None or request.submitted > now else request.submitted


def apply(jobs: Sequence[Job], requests: Mapping[int, JobRequest], now: datetime) -> None:
    """Change the (locked) rows in memory to what `requests` ask for by row id, ending tasks as that needs."""
    over = [job for job in jobs if _starts_over(job, requests[job.pk])]
    end_tasks_of([job.pk for job in over], now, forget=True)
    restarted = {job.pk for job in over}
    for job in jobs:
        request = requests[job.pk]
        if job.pk in restarted:
            _start_over(job, request, now)
        else:
            job.submitted_at = submitted_at(request, job.submitted_at, now)
            _take_over(job, request)
            _fit_tasks(job, now)


def _starts_over(job: Job, request: JobRequest) -> bool:
    """A finished job, a gang of another size, or a task that asks for something else: what was placed is void."""
    finished = job.state in (Job.State.DONE, Job.State.CANCELLED)
    resized_gang = job.gang and job.tasks != request.spec.tasks
    return finished or resized_gang or _task_of(job.spec) != _task_of(request.spec.fields)


def _task_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What one task is; how many of them there are is left out."""
    return {name: value for name, value in spec.items() if name != "tasks"}


def _take_over(job: Job, request: JobRequest) -> None:
    spec = request.spec
    job.spec, job.spec_hash = dict(spec.fields), spec.hash
    job.tier, job.gang, job.tasks = spec.tier, spec.gang, spec.tasks
    job.priority, job.run_seconds = request.priority, request.run_seconds


def _start_over(job: Job, request: JobRequest, now: datetime) -> None:
    """As if listed for the first time."""
    ended = job.state in (Job.State.DONE, Job.State.CANCELLED)
    job.submitted_at = submitted_at(request, now if ended else job.submitted_at, now)
    _take_over(job, request)
    job.state, job.finished_at = Job.State.PENDING, None
    job.pending_tasks, job.running_tasks, job.done_tasks = job.tasks, 0, 0


def _fit_tasks(job: Job, now: datetime) -> None:
    """Another number of tasks: pending ones come and go first, then the newest active ones end."""
    job.done_tasks = min(job.done_tasks, job.tasks)
    surplus = job.running_tasks + job.done_tasks - job.tasks
    if surplus > 0:
        newest = Task.objects.filter(job=job, state__in=Task.ACTIVE).order_by("-pk")
        end_tasks(newest.values_list("pk", flat=True)[:surplus], now)
        job.running_tasks -= surplus
    job.pending_tasks = job.tasks - job.done_tasks - job.running_tasks
    if job.done_tasks == job.tasks:
        job.state, job.finished_at = Job.State.DONE, now
