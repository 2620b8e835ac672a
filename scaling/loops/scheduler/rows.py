"""Locks that never wait, and counts of jobs brought up to date in few statements.

What another transaction holds is left for the next round, a second later: so this loop can be part of no deadlock. On
SQLite a writing transaction is alone and nothing is ever held.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import F, QuerySet

from scaling.models import Job, Slice, Task, Worker

# Ids in one statement.
_IDS = 5_000


def alone() -> bool:
    """Whether no other round of this loop is under way; holds until the transaction ends."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended('iris scheduler', 0))")
        return bool(cursor.fetchone()[0])


def batches(ids: Collection[int]) -> Iterator[list[int]]:
    """The ids in order, a few thousand at a time."""
    ordered = sorted(ids)
    return (ordered[start : start + _IDS] for start in range(0, len(ordered), _IDS))


def locked(rows: QuerySet[Slice] | QuerySet[Worker] | QuerySet[Task], ids: Collection[int]) -> set[int]:
    """Those of the rows that this transaction holds from now on."""
    held: set[int] = set()
    for some in batches(ids):
        held.update(
            rows.filter(pk__in=some).select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)
        )
    return held


@dataclass(frozen=True, slots=True)
class JobCounts:
    """A locked job: its id in its source, and how many of its tasks are where."""

    source: str
    job_id: str
    state: str
    tasks: int
    pending: int
    running: int
    done: int
    run_seconds: float | None
    gang: bool
    spec_hash: str


UNFINISHED = (Job.State.PENDING, Job.State.RUNNING)
_COLUMNS = (
    "source",
    "job_id",
    "state",
    "tasks",
    "pending_tasks",
    "running_tasks",
    "done_tasks",
    "run_seconds",
    "gang",
    "spec_hash",
)


def locked_jobs(ids: Collection[int]) -> dict[int, JobCounts]:
    """The unfinished ones of these jobs that this transaction holds from now on."""
    unfinished = Job.objects.filter(state__in=UNFINISHED)
    held: dict[int, JobCounts] = {}
    for some in batches(ids):
        # Without the key: a cycle that stores a job's hint need not wait, while it holds tasks that we wait for.
        rows = unfinished.filter(pk__in=some).select_for_update(skip_locked=True, no_key=True).order_by()
        held.update({row[0]: JobCounts(*row[1:]) for row in rows.values_list("pk", *_COLUMNS)})
    return held


@dataclass(frozen=True, slots=True)
class Moved:
    """Tasks of one job that changed their place: from pending to running, back, or on to done."""

    started: int = 0
    lost: int = 0
    done: int = 0


def count(jobs: Mapping[int, JobCounts], moved: Mapping[int, Moved], now: datetime) -> dict[int, str]:
    """Bring the counts and states of these locked jobs up to date; returns the new state of each."""
    alike: defaultdict[tuple[Moved, str], list[int]] = defaultdict(list)
    for pk, move in moved.items():
        alike[move, _state(jobs[pk], move)].append(pk)
    for (move, state), pks in alike.items():
        for some in batches(pks):
            Job.objects.filter(pk__in=some).update(
                pending_tasks=F("pending_tasks") - move.started + move.lost,
                running_tasks=F("running_tasks") + move.started - move.lost - move.done,
                done_tasks=F("done_tasks") + move.done,
                state=state,
                finished_at=now if state == Job.State.DONE else None,
            )
    return {pk: state for (_, state), pks in alike.items() for pk in pks}


def _state(job: JobCounts, move: Moved) -> str:
    if job.done + move.done >= job.tasks:
        return Job.State.DONE
    running = job.running + move.started - move.lost - move.done
    return Job.State.RUNNING if running > 0 else Job.State.PENDING
