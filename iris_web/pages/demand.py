"""`/demand/`: which jobs wait, since when, and why."""

from collections.abc import Callable

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import keyset, states
from iris_web.pages.hint_words import completed
from iris_web.pages.names import holding, with_words_told
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling.models import Hint, Job

PAGE_SIZE = 100
STATES = (
    ("waiting", "waiting"),
    ("running", "running"),
    ("done", "done"),
    ("cancelled", "cancelled"),
    ("all", "all"),
)
TIERS = (("", "any"), ("production", "production"), ("standard", "standard"), ("batch", "batch"))
# Jobs that wait and have no hint: READY room was found for them.
PLACED = "placed"
PARAMS = (
    Param("q", "Job"),
    Param("state", "State", Kind.CHOICE, STATES, default="waiting"),
    Param("code", "Hint", Kind.CHOICE, (("", "any"), *((code, look.word) for code, look in states.HINT.items()),
                                        (PLACED, "given room"))),
    Param("source", "Source"),
    Param("tier", "Tier", Kind.CHOICE, TIERS),
    Param("order", "Order", Kind.CHOICE, (("served", "as served"), ("oldest", "longest waiting")), default="served",
          shown=False),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)  # fmt: skip
_ORDERS: dict[str, tuple[keyset.Key, ...]] = {
    # The order in which the planner serves them: AUTOSCALER section 3.
    "served": (keyset.Key("priority", True), keyset.Key("submitted_at"), keyset.Key("job_id"), keyset.Key("id")),
    "oldest": (keyset.Key("submitted_at"), keyset.Key("id")),
}
# The filters that tabs and chips keep, and what each asks of a job.
_NARROWING: dict[str, Callable[[str], Q]] = {
    "source": lambda name: Q(source=name),
    "tier": lambda name: Q(tier=name),
    "q": lambda text: holding(text, "job_id"),
}
_UNFINISHED = (Job.State.PENDING, Job.State.RUNNING)


def waiting_jobs() -> QuerySet[Job]:
    """Jobs of which at least one task has no worker yet."""
    return Job.objects.filter(state__in=_UNFINISHED, pending_tasks__gt=0)


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = _read(request.GET)
    sources = list(Job.objects.order_by("source").values_list("source", flat=True).distinct())
    return render_page(request, "pages/demand.html", {"state": state, "sources": sources, "tiers": TIERS}, nav="demand")


def _read(given: QueryDict) -> PageState:
    state = with_words_told(PageState.read(PARAMS, given))
    return state.placed(keyset.reads(Job, _ORDERS[state["order"]]))


def _state(params: Params) -> PageState:
    return _read(QueryDict(params.get("query", "")))


def counts(params: Params, _role: Role) -> Context:
    """How many of the jobs that the filters leave are in each state, and what those that wait lack. Three queries.

    Each number is that of the list it leads to, which keeps the other filters. A job of which some tasks run and others
    wait is looked for among both, so it counts as waiting and as running; the page says how many those are (`both`).
    """
    state = _state(params)
    these, these_waiting = _fitting(Job.objects.order_by(), state), _fitting(waiting_jobs(), state)
    both = Count("pk", filter=Q(state=Job.State.RUNNING))
    by_state = dict(these.values_list("state").annotate(n=Count("pk")))
    waiting = these_waiting.aggregate(
        jobs=Count("pk"), tasks=Sum("pending_tasks"), oldest=Min("submitted_at"), both=both
    )
    by_code = dict(Hint.objects.filter(job__in=these_waiting).order_by().values_list("code").annotate(n=Count("pk")))
    tabs = [
        ("waiting", waiting["jobs"]),
        ("running", by_state.get("running", 0)),
        ("done", by_state.get("done", 0)),
        ("cancelled", by_state.get("cancelled", 0)),
        ("all", sum(by_state.values())),
    ]
    codes = [(code, by_code[code]) for code in states.HINT if by_code.get(code)]
    placed = waiting["jobs"] - sum(by_code.values())
    return {
        "state": state,
        "tabs": [(name, number, state.address(state=name, code="")) for name, number in tabs],
        "codes": [(code, number, state.address(state="waiting", code=code)) for code, number in codes],
        "placed": placed if placed > 0 else 0,
        "placed_address": state.address(state="waiting", code=PLACED),
        "waiting": waiting,
        "narrowed": any(state[name] for name in _NARROWING),
    }


def listing(params: Params, _role: Role) -> Context:
    """One page of jobs by key, with their hints. Three queries at most."""
    state = _state(params)
    page = keyset.read_page(
        _chosen(state).select_related("hint"), _ORDERS[state["order"]], PAGE_SIZE, state["after"], state["before"]
    )
    return {
        "state": state,
        "rows": page.rows,
        "completed": completed(job.hint for job in page.rows if hasattr(job, "hint")),
        "next": state.address(after=page.after) if page.after else "",
        "previous": state.address(before=page.before) if page.before else "",
        "anything": state.filtered or bool(state["after"] or state["before"]),
    }


def _chosen(state: PageState) -> QuerySet[Job]:
    jobs: QuerySet[Job] = Job.objects.defer("spec")
    if state["state"] == "waiting":
        jobs = jobs.filter(state__in=_UNFINISHED, pending_tasks__gt=0)
    elif state["state"] != "all":
        jobs = jobs.filter(state=state["state"])
    if state["code"] == PLACED:
        jobs = jobs.filter(hint__isnull=True)
    elif state["code"]:
        jobs = jobs.filter(hint__code=state["code"])
    return _fitting(jobs, state)


def _fitting(jobs: QuerySet[Job], state: PageState) -> QuerySet[Job]:
    """Those of the source, tier and name that were asked for."""
    return jobs.filter(*(asks(state[name]) for name, asks in _NARROWING.items() if state[name]))


_QUERY = frozenset({"query"})
register(
    Fragment("demand.counts", "partials/demand_counts.html", counts, {"jobs"}, _QUERY),
    Fragment("demand.list", "partials/job_rows.html", listing, {"jobs"}, _QUERY),
)
