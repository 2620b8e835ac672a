"""`/actions/<id>/`: what was this, why was it done, and what followed?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import action_costs, addresses, seals, words
from iris_web.pages.action_diff import differences, unchanged
from iris_web.pages.action_rows import action_row, action_rows
from iris_web.pages.action_story import origin, untraced
from iris_web.pages.action_tree import Tree, read_tree
from iris_web.pages.shell import render_page
from iris_web.pages.undo import may_undo
from scaling import clock
from scaling.audit.cost import cost_of
from scaling.models import Action, Task
from scaling.once import asking_once
from scaling.operations.taking_back import taken_back_by, takes_back

# So many causes are shown upwards, each one step earlier; the topmost links on to its own.
CAUSES_SHOWN = 4
JOBS_SHOWN = 5
# Where an act came from, in words.
SOURCES = {"cycle": "by Iris itself", "page": "on a page", "admin": "in the admin", "api": "over the API",
           "shell": "from a shell"}  # fmt: skip


def view(request: HttpRequest, pk: int) -> HttpResponse:
    role = require(request, Act.VIEW)
    with asking_once():
        return render_page(request, "pages/action.html", _context(request, role, pk), nav="actions")


def _context(request: HttpRequest, role: Role, pk: int) -> Context:
    action = Action.objects.select_related("__".join(["cause"] * CAUSES_SHOWN)).filter(pk=pk).first()
    if action is None:
        raise Http404(f"There is no action {pk}.")
    causes, jobs = list(_causes(action)), jobs_of(action)
    told, tree = _but_jobs(action.after), read_tree(action.pk)
    row = action_rows([action])[0]
    return {
        "row": row,
        "action": action,
        "causes": [action_row(cause) for cause in reversed(causes)],
        "earlier": causes[-1].cause_id if causes else action.cause_id,
        "differences": list(differences(action.before, told)),
        "unchanged": unchanged(action.before, told),
        "source": SOURCES.get(action.source, action.source),
        "permalink": request.build_absolute_uri(addresses.action(action)),
        "seal": seals.seal_of(action),
        "cost": _cost(action, tree),
        "jobs": jobs,
        "origin": origin(action, bool(jobs)),
        "ran": _ran_on(action.slice) if action.slice else [],
        "taken_back_by": taken_back_by(action),
        "takes_back": action.cause_id if action.cause and takes_back(action, action.cause) else None,
        "undo": f"{addresses.action(action)}undo/" if may_undo(role, action) else "",
    }


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


@dataclass(frozen=True, slots=True)
class CostFacts:
    """What it cost, what is counted in that, and what is missing."""

    told: str
    counted: str
    caveats: str


def _cost(action: Action, tree: Tree) -> CostFacts | None:
    """The cost of an act with all that followed from it; None where no slice is concerned."""
    found = cost_of([action, *tree.actions], clock.now())
    if found is None:
        return None
    caveats = action_costs.caveats(found) + (" Only what is shown below is counted." if tree.more else "")
    return CostFacts(action_costs.told(found), action_costs.counted(action.kind), caveats.strip())


def effects(params: Params, _role: Role) -> Context:
    """What followed, as a tree, and whether more may have that is not linked."""
    pk = int(params["id"]) if params.get("id", "").isascii() and params.get("id", "").isdigit() else 0
    action = Action.objects.filter(pk=pk).defer("before", "after").first()
    return {"tree": read_tree(pk), "root": pk, "untraced": untraced(action) if action else None}


register(
    Fragment("action.effects", "partials/action_effects.html", effects, lambda p: {f"action:{p.get('id', '')}"},
             frozenset({"id"})),
)  # fmt: skip
