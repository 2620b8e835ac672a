"""`/actions/`: who or what did this? The append-only history, newest first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, ListFragment, Params, Row, register
from iris_web.pages import keyset, routine, words
from iris_web.pages.action_rows import KINDS, action_row, new_actions
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Action, ActorKind

PAGE_SIZE = 100
OUTCOMES = (("", "any"), ("ok", "ok"), ("failed", "failed"), ("refused", "refused"), ("observed", "observed"),
            ("sent", "sent"), ("timeout", "timed out"), ("unknown", "unknown"))  # fmt: skip
BY = (("", "anyone"), ("people", "people and tokens"), ("system", "Iris itself"))
SPANS = (
    ("", "any time"),
    ("1h", "last hour"),
    ("24h", "last 24 hours"),
    ("7d", "last 7 days"),
    ("30d", "last 30 days"),
)
_KIND = Param("kind", "Kind", Kind.CHOICE, (("", "any"), *((kind, words.phrase(kind)) for kind in sorted(KINDS))))
ROUTINE_CHOICES = (("", "hidden"), ("shown", "shown"))
PARAMS = (
    Param("q", "Search"),
    _KIND,
    Param("routine", "Routine", Kind.CHOICE, ROUTINE_CHOICES, shown=False),
    Param("outcome", "Outcome", Kind.CHOICE, OUTCOMES),
    Param("by", "By", Kind.CHOICE, BY),
    Param("actor", "Actor"),
    Param("group", "Group"),
    Param("slice", "Slice"),
    Param("job", "Job"),
    Param("target", "Target"),
    Param("cycle", "Cycle", Kind.NUMBER),
    Param("span", "Time", Kind.SPAN),
    Param("from", "From", Kind.TIME),
    Param("to", "To", Kind.TIME),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)
_ORDER = (keyset.Key("id", True),)
_EXACT = ("kind", "outcome", "actor", "group", "slice", "job", "target")
# Actions are counted by kind over so many of the newest that the other filters leave.
COUNTED = 10_000
_SEARCHED = ("reason", "group", "slice", "job", "target", "actor", "kind")


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = _read(request.GET.dict())
    counts = kind_counts(state)
    context = {
        "state": state,
        "kinds": _kind_options(state, counts),
        "outcomes": OUTCOMES,
        "by": BY,
        "spans": SPANS,
        "counted": COUNTED if sum(counts.values()) >= COUNTED else None,
        "routine": "" if state["kind"] else routine.told(counts),
        "routine_shown": state["routine"] == "shown",
        "routine_address": state.address(routine="" if state["routine"] else "shown"),
    }
    return render_page(request, "pages/actions.html", context, nav="actions")


def _read(given: Mapping[str, str]) -> PageState:
    """The state of an address; a kind that only the history knows is a kind as well."""
    kind = given.get("kind", "").strip()
    if kind and kind not in dict(_KIND.choices) and _was_written(kind):
        named = replace(_KIND, choices=(*_KIND.choices, (kind, words.phrase(kind))))
        return PageState.read([named if param is _KIND else param for param in PARAMS], given)
    return PageState.read(PARAMS, given)


def _was_written(kind: str) -> bool:
    return "\x00" not in kind and Action.objects.filter(kind=kind).exists()


def _state(params: Params) -> PageState:
    return _read(QueryDict(params.get("query", "")).dict())


def kind_counts(state: PageState) -> Counter[str]:
    """How many actions of each kind the other filters leave, over the newest `COUNTED` of them. One query."""
    newest = filtered(state, but_kind=True).order_by("-id").values("kind")[:COUNTED]
    counted = Action.objects.filter(pk__in=newest.values("pk")).order_by().values_list("kind")
    return Counter(dict(counted.annotate(n=Count("pk"))))


def _kind_options(state: PageState, counts: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """(kind, its words, how many), those there are first."""
    kinds = {*dict(_KIND.choices), *counts, state["kind"]} - {""}
    named = [(kind, words.phrase(kind), counts.get(kind, 0)) for kind in kinds]
    return sorted(named, key=lambda option: (not option[2], option[1]))


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
        "may_hide": not state["kind"] and state["routine"] != "shown",
        "with_routine": state.address(routine="shown"),
    }


def chosen(state: PageState) -> QuerySet[Action]:
    """The actions that the filters leave; routine ones only where a kind is chosen or they are asked for."""
    rows = filtered(state)
    return rows if state["kind"] or state["routine"] == "shown" else routine.without(rows)


def filtered(state: PageState, *, but_kind: bool = False) -> QuerySet[Action]:
    rows: QuerySet[Action] = Action.objects.defer("before", "after")
    exact: dict[str, Any] = {name: state[name] for name in _EXACT if state[name]}
    if but_kind:
        exact.pop("kind", None)
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
