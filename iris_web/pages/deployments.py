"""`/deployments/`: which deployments keep their latency, which do not, and what holds them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import deployment_paging, deployment_sources, deployment_summary
from iris_web.pages.deployment_conditions import CONDITIONS, conditions, counts, having, there
from iris_web.pages.deployment_rows import rows_of
from iris_web.pages.deployment_sources import Fleet
from iris_web.pages.groups import Head
from iris_web.pages.names import with_words_told
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock

PAGE_SIZE = 50
SORTS = (
    ("name", "Deployment"),
    ("state", "State"),
    ("latency", "p95 latency"),
    ("rps", "RPS per replica"),
    ("replicas", "Replicas"),
    ("desired", "Desired"),
)
_WORST_FIRST = frozenset({"latency", "rps", "replicas", "desired"})
PARAMS = (
    Param("q", "Search"),
    Param("state", "State", Kind.CHOICE, (("", "any"), *CONDITIONS.items())),
    Param("sort", "Order", Kind.CHOICE, tuple((f"{sign}{key}", label) for key, label in SORTS for sign in ("", "-")),
          default="name", shown=False),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)  # fmt: skip


def view(request: HttpRequest) -> HttpResponse:
    """The list, and what stands over it: counted together where the list leaves none out."""
    require(request, Act.VIEW)
    state, now = _read(request.GET), clock.now()
    counted = None if state["q"] else counts(there(), deployment_sources.to_count(now) | conditions(now))
    context = {**deployment_sources.over_list(Fleet(now, counted)), **shown(state, now, counted)}
    return render_page(request, "pages/deployments.html", context, nav="deployments")


def listing(params: Params, _role: Role) -> Context:
    """The rows that these filters leave, one page of them, and how many each filter would."""
    return shown(_read(QueryDict(params.get("query", ""))), clock.now())


def _read(given: QueryDict) -> PageState:
    return with_words_told(PageState.read(PARAMS, given).placed(deployment_paging.is_place))


def shown(state: PageState, now: datetime, counted: Mapping[str, int] | None = None) -> Context:
    """What the list shows in this state of its page; `counted` as `counts` of it. Six queries at most."""
    asked = conditions(now)
    found = there().filter(having(state["q"])) if state["q"] else there()
    count = counts(found, asked) if counted is None else counted
    if state["state"]:
        found = found.filter(asked[state["state"]])
    page = deployment_paging.page_of(found, now, state["sort"], PAGE_SIZE, state["after"], state["before"])
    return {
        "state": state,
        "rows": rows_of(page.keys, now),
        "total": count[state["state"] or "all"],
        "tabs": [Tab(code, word, count[code], state.address(state=code)) for code, word in CONDITIONS.items()],
        "all": count["all"],
        "everything": state.address(state=""),
        "next": state.address(after=page.after) if page.after else "",
        "previous": state.address(before=page.before) if page.before else "",
        "heads": [_head(state, key, label) for key, label in SORTS],
        "none_at_all": not count["all"] and not there().exists(),
        "configured": settings.LYC.enabled,
    }


@dataclass(frozen=True, slots=True)
class Tab:
    """A filter with the number of deployments that it leaves."""

    code: str
    word: str
    count: int
    address: str


def _head(state: PageState, key: str, label: str) -> Head:
    """The address that sorts by this column: what is worst comes first where that can be said."""
    down, up = f"-{key}", key
    first, second = (down, up) if key in _WORST_FIRST else (up, down)
    following = second if state["sort"] == first else first
    return Head(label, state.address(sort=following), {up: "ascending", down: "descending"}.get(state["sort"], ""))


register(
    *deployment_sources.FRAGMENTS,
    deployment_summary.FRAGMENT,
    Fragment("deployments.list", "partials/deployment_rows.html", listing, {"deployments"}, frozenset({"query"})),
)
