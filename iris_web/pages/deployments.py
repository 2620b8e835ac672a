"""`/deployments/`: which deployments keep their latency, which do not, and what holds them."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import deployment_briefs, deployment_paging, deployment_sources, deployment_summary
from iris_web.pages.deployment_briefs import CONDITIONS, Brief, that_are
from iris_web.pages.deployment_rows import rows_of
from iris_web.pages.deployment_sources import Fleet
from iris_web.pages.groups import Head
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
    Param("state", "State", Kind.CHOICE, (("", "any"), *((code, word) for code, (word, _) in CONDITIONS.items()))),
    Param("sort", "Order", Kind.CHOICE, tuple((f"{sign}{key}", label) for key, label in SORTS for sign in ("", "-")),
          default="name", shown=False),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)  # fmt: skip


def view(request: HttpRequest) -> HttpResponse:
    """All deployments are read once, for the list and for what stands over it."""
    require(request, Act.VIEW)
    state, now = PageState.read(PARAMS, request.GET.dict()), clock.now()
    briefs = deployment_briefs.read(now)
    context = {**deployment_sources.over_list(Fleet(now, briefs)), **shown(state, briefs, now)}
    return render_page(request, "pages/deployments.html", context, nav="deployments")


def listing(params: Params, _role: Role) -> Context:
    """The rows that these filters leave, one page of them, and how many each filter would. Four queries."""
    state, now = PageState.read(PARAMS, QueryDict(params.get("query", "")).dict()), clock.now()
    return shown(state, deployment_briefs.read(now), now)


def shown(state: PageState, briefs: list[Brief], now: datetime) -> Context:
    """What the list shows of these deployments in this state of its page. Three queries."""
    found = [brief for brief in briefs if brief.has(state["q"].casefold())] if state["q"] else briefs
    falling = {code: that_are(code, found) for code in CONDITIONS}
    counts = {code: len(them) for code, them in falling.items()}
    found = falling[state["state"]] if state["state"] else found
    page = deployment_paging.page_of(found, state["sort"], PAGE_SIZE, state["after"], state["before"])
    return {
        "state": state,
        "rows": rows_of(page.rows, now),
        "total": len(found),
        "tabs": [Tab(code, word, counts[code], state.address(state=code)) for code, (word, _) in CONDITIONS.items()],
        "everything": state.address(state=""),
        "next": state.address(after=page.after) if page.after else "",
        "previous": state.address(before=page.before) if page.before else "",
        "heads": [_head(state, key, label) for key, label in SORTS],
        "none_at_all": not briefs,
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
