"""`/actions/<id>/`: what was this, why was it done, and what followed?"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import addresses, words
from iris_web.pages.action_rows import ActionRow, action_row
from iris_web.pages.shell import render_page
from iris_web.pages.undo import may_undo
from scaling.models import Action, Task

# So many causes are shown upwards, each one step earlier; the topmost links on to its own.
CAUSES_SHOWN = 4
EFFECTS_SHOWN = 200
JOBS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """A field before and after; "" where it was not there."""

    name: str
    before: str
    after: str


@dataclass(slots=True)
class Effect:
    """An action that followed, with what followed from it."""

    row: ActionRow
    effects: list["Effect"] = field(default_factory=list)


def view(request: HttpRequest, pk: int) -> HttpResponse:
    role = require(request, Act.VIEW)
    action = Action.objects.select_related("__".join(["cause"] * CAUSES_SHOWN)).filter(pk=pk).first()
    if action is None:
        raise Http404(f"There is no action {pk}.")
    causes = list(_causes(action))
    context = {
        "row": action_row(action),
        "action": action,
        "causes": [action_row(cause) for cause in reversed(causes)],
        "earlier": causes[-1].cause_id if causes else None,
        "differences": list(differences(action.before, _but_jobs(action.after))),
        "jobs": jobs_of(action),
        "ran": _ran_on(action.slice) if action.slice else [],
        "undo": f"{addresses.action(action)}undo/" if may_undo(role, action) else "",
    }
    return render_page(request, "pages/action.html", context, nav="actions")


@dataclass(frozen=True, slots=True)
class JobLink:
    """A job that an action is about, and what of it."""

    name: str
    url: str
    note: str = ""


def jobs_of(action: Action) -> list[JobLink]:
    """The jobs that a slice was asked for, else the one that was acted on; the last item may count the rest."""
    told = action.after if isinstance(action.after, dict) else {}
    jobs = [one for one in told.get("jobs") or () if isinstance(one, dict) and "job" in one]
    if not jobs:
        name, url = action_row(action).job
        return [JobLink(name, url)] if name else []
    found = [
        JobLink(str(one["job"]).partition(":")[2], addresses.job(str(one["job"])), words.plural(one["tasks"], "task"))
        for one in jobs
    ]
    more = told.get("more_jobs") or 0
    return [*found, JobLink("", "", f"and {words.plural(more, 'job')} more")] if more else found


def _but_jobs(after: Any) -> Any:
    """What became, without the jobs: these are told with links."""
    if not isinstance(after, dict) or "jobs" not in after:
        return after
    return {name: value for name, value in after.items() if name not in ("jobs", "more_jobs")}


def _ran_on(slice_name: str) -> list[JobLink]:
    """The jobs that last had tasks on a slice. One query."""
    rows = Task.objects.filter(slice_name=slice_name).order_by().values_list("job__source", "job__job_id")
    latest = rows.annotate(last=Max("assigned_at")).order_by("-last")[:JOBS_SHOWN]
    return [JobLink(job_id, addresses.job(f"{source}:{job_id}")) for source, job_id, _ in latest]


def _causes(action: Action) -> Iterator[Action]:
    """What led to it, the nearest first, as far as it was loaded."""
    found = action
    for _ in range(CAUSES_SHOWN):
        if found.cause_id is None or found.cause is None:
            return
        found = found.cause
        yield found


def differences(before: Any, after: Any) -> Iterator[Difference]:
    """Field by field, by name, what was and what became; a value that is no mapping counts as one field."""
    old = before if isinstance(before, dict) else {} if before is None else {"value": before}
    new = after if isinstance(after, dict) else {} if after is None else {"value": after}
    for name in sorted({*old, *new}):
        yield Difference(name, _told(old[name]) if name in old else "", _told(new[name]) if name in new else "")


def _told(value: Any) -> str:
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def effects(params: Params, _role: Role) -> Context:
    """What followed, two steps deep. Two queries."""
    pk = int(params["id"]) if params.get("id", "").isascii() and params.get("id", "").isdigit() else 0
    direct = list(Action.objects.filter(cause_id=pk).order_by("id")[: EFFECTS_SHOWN + 1])
    later: dict[int | None, list[Action]] = defaultdict(list)
    for row in Action.objects.filter(cause_id__in=[row.pk for row in direct]).order_by("id")[:EFFECTS_SHOWN]:
        later[row.cause_id].append(row)
    tree = [
        Effect(action_row(row), [Effect(action_row(after)) for after in later[row.pk]])
        for row in direct[:EFFECTS_SHOWN]
    ]
    return {"effects": tree, "more": len(direct) > EFFECTS_SHOWN}


register(
    Fragment("action.effects", "partials/action_effects.html", effects, lambda p: {f"action:{p.get('id', '')}"},
             frozenset({"id"})),
)  # fmt: skip
