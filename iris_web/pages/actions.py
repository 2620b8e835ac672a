"""`/actions/`: who or what did this? The append-only history, newest first."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, ListFragment, Params, Row, register
from iris_web.pages import keyset, words
from iris_web.pages.action_rows import KINDS, action_row, new_actions
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Action, ActorKind

PAGE_SIZE = 100
OUTCOMES = (("", "any"), ("ok", "ok"), ("failed", "failed"), ("refused", "refused"), ("observed", "observed"))
BY = (("", "anyone"), ("people", "people and tokens"), ("system", "Iris itself"))
SPANS = (
    ("", "any time"),
    ("1h", "last hour"),
    ("24h", "last 24 hours"),
    ("7d", "last 7 days"),
    ("30d", "last 30 days"),
)
KIND_CHOICES = (("", "any"), *((kind, words.phrase(kind)) for kind in sorted(KINDS)))
PARAMS = (
    Param("q", "Search"),
    Param("kind", "Kind", Kind.CHOICE, KIND_CHOICES),
    Param("outcome", "Outcome", Kind.CHOICE, OUTCOMES),
    Param("by", "By", Kind.CHOICE, BY),
    Param("actor", "Actor"),
    Param("group", "Group"),
    Param("slice", "Slice"),
    Param("job", "Job"),
    Param("cycle", "Cycle", Kind.NUMBER),
    Param("span", "Time", Kind.SPAN),
    Param("from", "From", Kind.TIME),
    Param("to", "To", Kind.TIME),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)
_ORDER = (keyset.Key("id", True),)
_EXACT = ("kind", "outcome", "actor", "group", "slice", "job")
_SEARCHED = ("reason", "group", "slice", "job", "target", "actor", "kind")


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = PageState.read(PARAMS, request.GET.dict())
    context = {"state": state, "kinds": KIND_CHOICES, "outcomes": OUTCOMES, "by": BY, "spans": SPANS}
    return render_page(request, "pages/actions.html", context, nav="actions")


def _state(params: Params) -> PageState:
    return PageState.read(PARAMS, QueryDict(params.get("query", "")).dict())


def listing(params: Params, _role: Role) -> Context:
    """One page of the history by key. One query."""
    state = _state(params)
    page = keyset.read_page(chosen(state), _ORDER, PAGE_SIZE, state["after"], state["before"])
    return {
        "state": state,
        "rows": [action_row(row) for row in page.rows],
        "next": state.address(after=page.after) if page.after else "",
        "previous": state.address(before=page.before) if page.before else "",
        "first_page": not state["after"] and not state["before"],
    }


def chosen(state: PageState) -> QuerySet[Action]:
    """The actions that the filters leave."""
    rows: QuerySet[Action] = Action.objects.defer("before", "after")
    exact: dict[str, Any] = {name: state[name] for name in _EXACT if state[name]}
    if state["cycle"]:
        exact["cycle"] = state.number("cycle")
    rows = rows.filter(**exact)
    if state["by"]:
        system = Q(actor_kind=ActorKind.SYSTEM)
        rows = rows.filter(system if state["by"] == "system" else ~system)
    if state["q"]:
        found = Q()
        for column in _SEARCHED:
            found |= Q(**{f"{column}__icontains": state["q"]})
        rows = rows.filter(found)
    span: timedelta | None = state.span("span")
    starts = [moment for moment in (state.time("from"), clock.now() - span if span else None) if moment]
    if starts:
        rows = rows.filter(at__gte=max(starts))
    end = state.time("to")
    return rows.filter(at__lt=end) if end else rows


def _new_rows(params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    """New actions that the filters leave; an older page gets none. One query."""
    state = _state(params)
    ids = [row.pk for row in new_actions(events)]
    if not ids or state["after"] or state["before"]:
        return ()
    rows = chosen(state).filter(pk__in=ids).order_by("pk")
    return [Row(f"action-{row.pk}", {"row": action_row(row)}) for row in rows]


register(
    ListFragment("actions.list", "partials/action_rows.html", listing, {"actions"}, frozenset({"query"}),
                 row_template="partials/action_row.html", rows=_new_rows),
)  # fmt: skip
