"""`/demand/<job>/`: why is my job pending, and what would unblock it?"""

import json
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.live.times import duration_text
from iris_web.pages import answers, job_story, matching
from iris_web.pages.hint_words import completed
from iris_web.pages.lasting import CHAINS_READ
from iris_web.pages.shell import render_page
from scaling import clock, feed
from scaling.models import Hint, Job, Task

VERDICTS_SHOWN = CHAINS_READ
TASKS_SHOWN = 50


def find_job(name: str) -> Job:
    """The job of `<source>:<job_id>`, or of a plain id that only one source has; raises Http404 with the reason."""
    source, colon, job_id = name.partition(":")
    if colon:
        found = Job.objects.filter(source=source, job_id=job_id).first()
        if found is not None:
            return found
    same = list(Job.objects.filter(job_id=name)[:2])
    if len(same) == 1:
        return same[0]
    if same:
        raise Http404(f"More than one source has a job {name}: write it as source:{name}.")
    raise Http404(f"There is no job {name}.")


def view(request: HttpRequest, job: str) -> HttpResponse:
    require(request, Act.VIEW)
    found = find_job(job)
    context = {"job": found, "spec": json.dumps(found.spec, indent=2, ensure_ascii=False, sort_keys=True)}
    return render_page(request, "pages/job.html", context, nav="demand")


def _job(params: Params) -> Job:
    """The job of a fragment's parameters, with its hint. One query; raises Job.DoesNotExist."""
    return Job.objects.select_related("hint").get(source=params["source"], job_id=params["job_id"])


def hint_of(job: Job) -> Hint | None:
    return getattr(job, "hint", None)


def waits(job: Job) -> bool:
    return job.pending_tasks > 0 and job.state in (Job.State.PENDING, Job.State.RUNNING)


def head(params: Params, _role: Role) -> Context:
    """State, what holds it up and since when, how long it waited and ran. At most ten queries.

    A job of which no task waits is held up by nothing: the hint of the last cycle, if there is one yet, is older.
    """
    job = _job(params)
    hint = hint_of(job) if waits(job) else None
    started, ended = job_story.span(job)
    return {
        "job": job,
        "hint": hint,
        "answer": answers.answer(hint, clock.now()) if hint else None,
        "completed": completed([hint]) if hint else None,
        "started": started,
        "waited": duration_text((started - job.submitted_at).total_seconds()) if started else "",
        "took": _took(job, started, ended),
    }


def _took(job: Job, started: datetime | None, ended: datetime | None) -> str:
    """From the start of its first task to its end; "" while it goes on or where nothing of it ran."""
    end = job.finished_at if ended is None else ended
    return duration_text((end - started).total_seconds()) if started and end and job.finished_at else ""


def groups(params: Params, _role: Role) -> Context:
    """Each group with its verdict, those that fit first. Four queries."""
    job = _job(params)
    hint = hint_of(job)
    blocked_by = {str(item.get("group")): item for item in (hint.blocked_by if hint else [])}
    compared = matching.compare(job, blocked_by)
    return {
        "job": job,
        "problem": compared.problem,
        "fitting": compared.fitting[:VERDICTS_SHOWN],
        "fitting_total": len(compared.fitting),
        "withheld": compared.withheld[:VERDICTS_SHOWN],
        "withheld_more": max(0, len(compared.withheld) - VERDICTS_SHOWN),
        "fitting_more": max(0, len(compared.fitting) - VERDICTS_SHOWN),
        "tally": matching.tally(compared.fitting),
        "unfit": compared.unfit[:VERDICTS_SHOWN],
        "unfit_total": len(compared.unfit),
        "unfit_more": max(0, len(compared.unfit) - VERDICTS_SHOWN),
        "other_devices": compared.other_devices,
        "waits": waits(job),
    }


def tasks(params: Params, _role: Role) -> Context:
    """Where its tasks run, and where the others ran. Three queries."""
    job = _job(params)
    rows = Task.objects.filter(job=job)
    active = rows.filter(state__in=Task.ACTIVE).select_related("worker__slice__group").order_by("id")
    counts = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    running = sum(counts.get(state, 0) for state in Task.ACTIVE)
    past = [run for run in job_story.runs(job) if run.ended_at is not None]
    return {
        "job": job,
        "tasks": list(active[:TASKS_SHOWN]),
        "past": past[:TASKS_SHOWN],
        "counts": counts,
        "more": max(0, running - TASKS_SHOWN),
    }


def actions(params: Params, _role: Role) -> Context:
    return {"events": job_story.story(_job(params)), "job_id": params["job_id"]}


def _topics(params: Params) -> set[str]:
    return {feed.job_topic(params["source"], params["job_id"]), "cycle"}


_JOB: Any = frozenset({"source", "job_id"})
register(
    Fragment("job.head", "partials/job_head.html", head, _topics, _JOB),
    Fragment("job.groups", "partials/job_groups.html", groups, _topics, _JOB),
    Fragment("job.tasks", "partials/job_tasks.html", tasks, _topics, _JOB),
    Fragment("job.actions", "partials/job_actions.html", actions, _topics, _JOB),
)
