"""What happened to a job: slices bought for it, tasks given workers and ended, and the acts on it, newest first."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from django.db.models import Count, Max, Min, TextField
from django.db.models.functions import Cast

from iris_web.live.times import duration_text
from iris_web.pages import addresses, words
from iris_web.pages.action_rows import ActionRow, action_row
from scaling.audit import matching
from scaling.autoscaler.words import ActionKind
from scaling.models import Action, Job, Task

SHOWN = 30
RUNS_SHOWN = 60
# Of the requests since the job came so many are looked through for those that name it beside others.
REQUESTS_LOOKED_AT = 300
# What becomes of a slice that can serve nobody.
_FAILURES = (ActionKind.CREATE_FAILED, ActionKind.SLICE_FAILED, ActionKind.SLICE_LOST)


@dataclass(frozen=True, slots=True)
class Run:
    """Tasks of a job that started together on one slice. `ended_at` is None while one of them runs."""

    slice: str
    state: str
    tasks: int
    started_at: datetime
    ended_at: datetime | None

    @property
    def took(self) -> str:
        return "" if self.ended_at is None else duration_text((self.ended_at - self.started_at).total_seconds())


class Event(NamedTuple):
    """A line of the story: an action, or what became of tasks."""

    at: datetime
    row: ActionRow | None = None
    shape: str = "ring"
    tone: str = "calm"
    title: str = ""
    text: str = ""
    slice: str = ""

    @property
    def tone_class(self) -> str:
        return f"tone-{self.tone}"

    @property
    def slice_url(self) -> str:
        return addresses.slice_(self.slice)


def runs(job: Job) -> list[Run]:
    """Where its tasks ran or run, the latest first. One query."""
    rows = (
        Task.objects.filter(job=job).order_by().values_list("slice_name", "worker__slice__name", "state", "assigned_at")
    )
    counted = rows.annotate(n=Count("pk"), ended=Max("ended_at")).order_by("-assigned_at", "slice_name")[:RUNS_SHOWN]
    return [
        Run(name or now_on or "", state, tasks, started, None if state in Task.ACTIVE else ended)
        for name, now_on, state, started, tasks, ended in counted
    ]


def span(job: Job) -> tuple[datetime | None, datetime | None]:
    """When its first task started and its last one ended; None before that. One query."""
    found = Task.objects.filter(job=job).aggregate(first=Min("assigned_at"), last=Max("ended_at"))
    return found["first"], found["last"]


def story(job: Job) -> list[Event]:
    """The newest `SHOWN` events. At most ten queries."""
    found = runs(job)
    events = [*_of_actions(job, found), *(event for run in found for event in _of_run(run)), *_of_job(job)]
    events.sort(key=lambda event: (event.at, event.row.action.pk if event.row else 0), reverse=True)
    return events[:SHOWN]


def _own(job: Job) -> list[Action]:
    """The acts on a job and the requests made for it; those of another source's job of that id are not."""
    found = [
        matching.ids(matching.Wanted({"job": job.job_id, "target": target}), SHOWN)
        for target in (f"source {job.source}"[:200], "")
    ]
    return matching.rows(sorted(chain(*found))[-SHOWN:])


def _beside(job: Job) -> list[Action]:
    """The latest requests that name the job beside others."""
    came = min(job.submitted_at, job.received_at)
    newest = matching.ids(matching.Wanted({"kind": "scale_up"}, since=came), REQUESTS_LOOKED_AT)
    written = Action.objects.filter(pk__in=newest).annotate(text=Cast("after", TextField()))
    # Most name other jobs: only what has its id in it, as either database writes it, is worth reading.
    names = {json.dumps(job.job_id, ensure_ascii=plain)[1:-1] for plain in (True, False)}
    likely = [pk for pk, text in written.values_list("pk", "text") if text and any(name in text for name in names)]
    return [row for row in matching.rows(likely) if _names(row, f"{job.source}:{job.job_id}")]


def _of_actions(job: Job, found: Iterable[Run]) -> Iterator[Event]:
    """What was done for the job, and what failed of the slices that were asked for it or that its tasks ran on."""
    acts = [*_own(job), *_beside(job)]
    names = {run.slice for run in found} | {row.slice for row in acts if row.kind == ActionKind.SCALE_UP}
    failed = Action.objects.filter(slice__in=names - {""}, kind__in=_FAILURES).order_by("-id")[:SHOWN]
    for row in {row.pk: row for row in (*acts, *failed)}.values():
        yield Event(row.at, action_row(row))


def _names(row: Action, key: str) -> bool:
    jobs = row.after.get("jobs", ()) if isinstance(row.after, dict) else ()
    return any(isinstance(one, dict) and one.get("job") == key for one in jobs)


def _of_run(run: Run) -> Iterator[Event]:
    tasks = words.plural(run.tasks, "task")
    yield Event(run.started_at, None, "play", "busy", f"{tasks} assigned", "", run.slice)
    if run.ended_at is not None and run.state == Task.State.DONE:
        yield Event(run.ended_at, None, "check", "good", f"{tasks} ended", f"after {run.took}", run.slice)
    elif run.ended_at is not None:
        yield Event(run.ended_at, None, "cross", "warn", f"{tasks} lost", f"after {run.took}: pending again", run.slice)


def _of_job(job: Job) -> Iterator[Event]:
    yield Event(job.received_at, None, "demand", "calm", "asked for", f"by {job.source}")
    if job.finished_at is not None:
        done = job.state == Job.State.DONE
        title = "job done" if done else f"job {job.state}"
        yield Event(job.finished_at, None, "check" if done else "minus", "good" if done else "calm", title)
