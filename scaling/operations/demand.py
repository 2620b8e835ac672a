"""Demand: the whole pending list of one scheduler, or one job of it.

What a list means (also the API's documentation, so it is kept in `DEMAND_MEANING`):

A job is known by its source and id. The cases, in a table: what is stored x what is listed.

| stored            | listed the same | listed with other work | listed, only order differs | not listed |
|-------------------|-----------------|------------------------|----------------------------|------------|
| nothing           | added           | added                  | added                      | -          |
| pending, running  | unchanged       | changed                | changed                    | cancelled  |
| done              | finished (left) | added again            | finished (left)            | left       |
| cancelled         | added again     | added again            | added again                | left       |

Work = the spec and run_seconds, and for a done job a submission after its end; order = priority and submission. A
cancelled job is added again because to a scheduler that runs its tasks itself, "no longer pending" is no end: the job
may lose its worker and wait once more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from scaling import clock
from scaling.activity import chunks, end_tasks_of
from scaling.history import Actor, record
from scaling.models import Job
from scaling.operations import announce, job_rows
from scaling.operations.acts import ActKind
from scaling.operations.errors import Fault, InvalidRequest
from scaling.operations.fields import MAX_FAULTS, Field, FieldTable
from scaling.operations.inputs import JsonSchema, shown
from scaling.operations.job_changes import Known, apply, submitted_at, wants_change
from scaling.operations.job_requests import LISTED_JOB_FIELDS, SOURCE_FIELDS, JobReader, JobRequest

MAX_JOBS = 100_000
UNFINISHED = (Job.State.PENDING, Job.State.RUNNING)

DEMAND_MEANING = """
The list replaces what this source asked for before; sending it again changes nothing. A job is known by its id.
New ones are added. Listed ones that differ are changed: a new priority, submission time or number of tasks in place,
anything else by starting over. Unfinished ones that are no longer listed are cancelled and their tasks end, so a
scheduler whose tasks Iris runs itself keeps listing a job until it is done. A done job is left alone until it is listed
with other work or submitted after its end; a cancelled one is added again. The same id twice counts once: the first.
Nothing is changed when one job of the list cannot be read.
""".strip()


@dataclass(frozen=True, slots=True)
class JobList:
    """The `jobs` of a body: its outer type is looked at here, each job by its own table."""

    def read(self, value: object) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"expected a list of jobs, got {shown(value)}")
        return value

    def schema(self) -> JsonSchema:
        return {"type": "array", "maxItems": MAX_JOBS, "items": LISTED_JOB_FIELDS.schema()}


DEMAND_FIELDS = FieldTable([Field("jobs", JobList(), "Everything that is pending in this source.", required=True)])


@dataclass(slots=True)
class DemandReport:
    """What a list changed, in numbers of jobs. `finished`: listed and done already; `repeated`: the same id again."""

    source: str
    listed: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    finished: int = 0
    cancelled: int = 0
    repeated: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def changes(self) -> dict[str, int]:
        return {"added": self.added, "changed": self.changed, "cancelled": self.cancelled}


@dataclass(slots=True)
class _Plan:
    """What a list asks for, compared with what is stored; ids of rows."""

    insert: list[JobRequest] = field(default_factory=list)
    rewrite: dict[int, JobRequest] = field(default_factory=dict)
    cancel: list[int] = field(default_factory=list)


def put_demand(actor: Actor, source: str, jobs: object) -> DemandReport:
    """Make `jobs` the whole pending list of `source` (see the module's text for what that means).

    Each job is a mapping of `LISTED_JOB_FIELDS`. Raises InvalidRequest naming every fault by path, changing nothing.
    """
    source = SOURCE_FIELDS.read({"source": source})["source"]
    requests, repeated = read_jobs(jobs)
    report = DemandReport(source, listed=len(requests), repeated=repeated)
    with transaction.atomic():
        serialize(source)
        now = clock.now()
        plan = _compare(source, requests, report, now)
        touched = carry_out(source, plan.insert, plan.rewrite, plan.cancel, now)
        if any(report.changes().values()):
            record(ActKind.DEMAND, actor=actor, target=f"source {source}", after=report.changes())
            announce.demand(source, report.changes(), touched)
    return report


def read_jobs(jobs: object) -> tuple[dict[str, JobRequest], int]:
    """(jobs by id, how many were repeated); raises InvalidRequest with the faults found."""
    listed = DEMAND_FIELDS.read({"jobs": jobs})["jobs"]
    if len(listed) > MAX_JOBS:
        raise InvalidRequest(f"expected at most {MAX_JOBS:,} jobs, got {len(listed):,}", "jobs")
    reader = JobReader()
    requests: dict[str, JobRequest] = {}
    faults: list[Fault] = []
    for index, values in enumerate(listed):
        request, wrong = reader.read(values, f"jobs[{index}]")
        faults += wrong
        if request is not None:
            requests.setdefault(request.job_id, request)
        if len(faults) >= MAX_FAULTS:
            break
    if faults:
        raise InvalidRequest.of(faults[:MAX_FAULTS])
    return requests, len(listed) - len(requests)


def serialize(source: str) -> None:
    """One list of a source at a time: on SQLite every writing transaction is alone anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"iris demand {source}"])


def _compare(source: str, requests: Mapping[str, JobRequest], report: DemandReport, now: datetime) -> _Plan:
    unfinished = known_jobs(Job.objects.filter(source=source, state__in=UNFINISHED))
    known = dict(unfinished)
    for ids in chunks([job_id for job_id in requests if job_id not in unfinished]):
        known |= known_jobs(Job.objects.filter(source=source, job_id__in=ids))
    plan = _Plan(cancel=[job.pk for job_id, job in unfinished.items() if job_id not in requests])
    for job_id, request in requests.items():
        _sort(plan, known.get(job_id), request, report, now)
    report.cancelled = len(plan.cancel)
    return plan


def known_jobs(rows: QuerySet[Job]) -> dict[str, Known]:
    return {row.job_id: row for row in (Known(*values) for values in rows.values_list(*Known._fields))}


def _sort(plan: _Plan, known: Known | None, request: JobRequest, report: DemandReport, now: datetime) -> None:
    """One cell of the table at the top of this module."""
    if known is None:
        plan.insert.append(request)
        report.added += 1
        return
    finished = known.state not in UNFINISHED
    if not wants_change(known, request, now):
        report.finished += finished
        report.unchanged += not finished
        return
    plan.rewrite[known.pk] = request
    report.added += finished
    report.changed += not finished


def carry_out(
    source: str,
    insert: Sequence[JobRequest],
    rewrite: Mapping[int, JobRequest],
    cancel: Sequence[int],
    now: datetime,
) -> list[Job]:
    """Write it with a few bulk statements; returns the rows that existed and were touched, locked in order of id."""
    job_rows.insert(source, [(request, submitted_at(request, now, now)) for request in insert], now)
    # Between the comparison and the lock a job may have ended: it is looked at again.
    changed = [job for job in _locked(rewrite) if wants_change(Known.of(job), rewrite[job.pk], now)]
    apply(changed, rewrite, now)
    job_rows.rewrite(changed)
    ended = [job for job in _locked(cancel, "source", "job_id", "state") if job.state in UNFINISHED]
    _cancel(ended, now)
    return [*changed, *ended]


def _cancel(jobs: Sequence[Job], now: datetime) -> None:
    ids = [job.pk for job in jobs]
    end_tasks_of(ids, now)
    values = {"state": Job.State.CANCELLED, "pending_tasks": 0, "running_tasks": 0, "finished_at": now}
    for some in chunks(ids):
        Job.objects.filter(pk__in=some).update(**values)
    for job in jobs:
        for name, value in values.items():
            setattr(job, name, value)


def _locked(ids: Iterable[int], *columns: str) -> Iterable[Job]:
    """Without their keys: a cycle that stores hints of these jobs need not wait, while it holds tasks of theirs."""
    for some in chunks(sorted(ids)):
        yield from Job.objects.select_for_update(no_key=True).filter(pk__in=some).order_by("pk").only(*columns)
