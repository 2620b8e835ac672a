"""`/slices/<name>/`: one slice, its workers and their tasks, and its history; also after it is gone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, ListFragment, Params, Row, register
from iris_web.pages import addresses
from iris_web.pages.act_fields import REASON
from iris_web.pages.action_rows import action_row, action_rows, new_actions
from iris_web.pages.acts import ActPage, run
from iris_web.pages.group import SliceRow, slice_rows
from iris_web.pages.group_acts import hits, jobs_on
from iris_web.pages.shell import render_page
from scaling import clock, operations
from scaling.feed import FeedEvent
from scaling.models import Action, Slice, Task, Worker
from scaling.previews import changes

WORKERS_SHOWN = 128
ACTIONS_SHOWN = 30


def view(request: HttpRequest, name: str) -> HttpResponse:
    require(request, Act.VIEW)
    row = Slice.objects.select_related("group").filter(name=name).first()
    if row is None:
        raise Http404(f"There is no slice {name}.")
    return render_page(request, "pages/slice.html", {"name": name, "group": row.group}, nav="groups")


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker with the word of its state and the tasks Iris placed on it."""

    worker: Worker
    code: str
    tasks: list[Task]


def facts(params: Params, _role: Role) -> Context:
    """The slice, why it is kept, its workers. At most eight queries."""
    found = Slice.objects.select_related("group__status", "group__platform", "platform", "cause").get(
        name=params["name"]
    )
    active = Task.objects.filter(state__in=Task.ACTIVE).select_related("job").order_by("id")
    workers = found.workers.order_by("index").prefetch_related(Prefetch("tasks", active, to_attr="active"))
    shown = list(workers[:WORKERS_SHOWN])
    return {
        "slice": found,
        "row": _row(found),
        "workers": [WorkerRow(worker, _code(worker), list(getattr(worker, "active", []))) for worker in shown],
        "more": found.workers.count() - len(shown),
        "reporting": any(worker.heard_at for worker in shown),
    }


def _row(found: Slice) -> SliceRow | None:
    """What the group's page says of it; nothing for a slice that is gone or belongs to no group."""
    if found.group is None or found.state not in Slice.LIVE:
        return None
    ready = Slice.objects.filter(group=found.group, state=Slice.State.READY, drain_since__isnull=True).count()
    return slice_rows(found.group, [found], ready)[0]


def _code(worker: Worker) -> str:
    if worker.state != Worker.State.READY:
        return worker.state
    return "BUSY" if worker.idle_since is None else "IDLE"


def actions(params: Params, _role: Role) -> Context:
    rows = Action.objects.filter(slice=params["name"]).order_by("-id")[:ACTIONS_SHOWN]
    return {"actions": action_rows(list(rows)), "name": params["name"]}


def _new_rows(params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    found = new_actions(events)
    return (
        Row(f"action-{row.pk}", {"row": action_row(row), "within": row.slice})
        for row in found
        if row.slice == params["name"]
    )


def _live_slice(name: str) -> Slice:
    row = Slice.objects.select_related("group").filter(name=name).first()
    if row is None:
        raise Http404(f"There is no slice {name}.")
    return row


def drain(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        row = _live_slice(name)
        jobs = jobs_on([row])
        return ActPage(
            act=Act.DRAIN,
            title=f"Drain {name}",
            button="Drain",
            back=addresses.slice_(name),
            done=f"{name} is draining.",
            undo=f"{addresses.slice_(name)}undrain/",
            perform=lambda actor, given: operations.drain_slice(actor, name, given["reason"]),
            nav="groups",
            subject=name,
            effects=(
                "It takes no new tasks; what runs on it may finish. It leaves when it was idle for the drain window.",
                "It counts for the group's max, not for its target, so another one may be bought in its place.",
                "It can be undone until it is being released.",
            ),
            danger=True,
            change=changes.drained_slice(name, clock.now()),
            stops=True,
            template="acts/drain.html",
            context={"hits": hits([row]), "jobs": jobs, "job_count": len(jobs),
                     "tasks": sum(job.here for job in jobs)},  # type: ignore[attr-defined]
        )  # fmt: skip

    return run(request, make, Act.DRAIN)


def undrain(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        _live_slice(name)
        return ActPage(
            act=Act.DRAIN,
            title=f"End the drain of {name}",
            button="Undrain",
            back=addresses.slice_(name),
            done=f"{name} is in service again.",
            perform=lambda actor, given: operations.undrain_slice(actor, name, given["reason"]),
            nav="groups",
            subject=name,
            effects=("It takes tasks again and counts for its group's target.",),
            fields=(REASON,),
            change=changes.undrained_slice(name),
            serves=True,
        )

    return run(request, make, Act.DRAIN)


_NAME: Any = frozenset({"name"})
register(
    Fragment("slice.facts", "partials/slice_facts.html", facts, lambda p: {f"slice:{p['name']}", "cycle"}, _NAME),
    ListFragment("slice.actions", "partials/slice_actions.html", actions, {"actions"}, _NAME,
                 row_template="partials/action_line.html", rows=_new_rows),
)  # fmt: skip
