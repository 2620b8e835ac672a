"""`/stockouts/`: what is out of stock, and who knows?"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import keyset
from iris_web.pages.act_fields import REASON, SPANS, FormField, Input
from iris_web.pages.acts import ActPage, run
from iris_web.pages.markers import open_order, rows_of
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock, operations
from scaling.models import Marker
from scaling.open_markers import OPEN, count_open, unknown
from scaling.previews import changes

OPEN_SHOWN = 100
PAGE_SIZE = 50
KINDS = (("", "any"), *((kind.value, kind.value) for kind in Marker.Kind))
OWNERS = (("", "any"), ("none", "not acknowledged"), ("some", "acknowledged"))
PARAMS = (
    Param("q", "Search"),
    Param("kind", "Kind", Kind.CHOICE, KINDS),
    Param("owner", "Owner", Kind.CHOICE, OWNERS),
    Param("group", "Group"),
    Param("zone", "Zone"),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)
_CLOSED_ORDER = (keyset.Key("closed_at", True), keyset.Key("id", True))
_IS_PLACE = keyset.reads(Marker, _CLOSED_ORDER)


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = PageState.read(PARAMS, request.GET).placed(_IS_PLACE)
    context = {"state": state, "kinds": KINDS, "owners": OWNERS}
    return render_page(request, "pages/stockouts.html", context, nav="stockouts")


def _state(params: Params) -> PageState:
    return PageState.read(PARAMS, QueryDict(params.get("query", ""))).placed(_IS_PLACE)


def _chosen(state: PageState) -> QuerySet[Marker]:
    rows = Marker.objects.select_related("group")
    if state["q"]:
        words = state["q"]
        rows = rows.filter(Q(group__name__icontains=words) | Q(message__icontains=words))
    if state["kind"]:
        rows = rows.filter(kind=state["kind"])
    if state["owner"]:
        now = clock.now()
        # What has run out asks for nobody, as in every count.
        over = Q(closed_at__isnull=True, until__lte=now)
        rows = rows.filter(unknown(now) & ~over if state["owner"] == "none" else ~unknown(now))
    if state["group"]:
        rows = rows.filter(group__name=state["group"])
    if state["zone"]:
        rows = rows.filter(group__zone=state["zone"])
    return rows


def open_markers(params: Params, _role: Role) -> Context:
    """Open markers after the filters, what nobody has seen to first. Three queries."""
    state, now = _state(params), clock.now()
    rows = _chosen(state).filter(OPEN).order_by(*open_order(now))
    shown = list(rows[:OPEN_SHOWN])
    return {
        "state": state,
        "markers": rows_of(shown, now),
        "total": rows.count(),
        "counts": count_open(),
        "now": now,
    }


def history(params: Params, _role: Role) -> Context:
    """Closed markers, one page by key. One query."""
    state = _state(params)
    closed = _chosen(state).filter(closed_at__isnull=False)
    page = keyset.read_page(closed, _CLOSED_ORDER, PAGE_SIZE, state["after"], state["before"])
    return {
        "state": state,
        "markers": [(row, ((row.closed_at or row.since) - row.since).total_seconds()) for row in page.rows],
        "next": state.address(after=page.after) if page.after else "",
        "previous": state.address(before=page.before) if page.before else "",
    }


_QUERY = frozenset({"query"})
register(
    Fragment("stockouts.open", "partials/markers_open.html", open_markers, {"markers", "cycle"}, _QUERY),
    Fragment("stockouts.history", "partials/markers_closed.html", history, {"markers"}, _QUERY),
)


# -- acts


def _marker(pk: int) -> Marker:
    marker = Marker.objects.select_related("group").filter(pk=pk).first()
    if marker is None:
        raise Http404(f"There is no marker {pk}.")
    return marker


_KNOWN = ("Others see that you know and what is being done. The planner does not act differently.",)
_SILENT = ("Its notice falls silent as long: nothing more is sent until it is over; then that is told.",)


def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    def make() -> ActPage:
        marker = _marker(pk)
        return ActPage(
            act=Act.ACKNOWLEDGE,
            title=f"Acknowledge the {marker.kind} of {marker.group.name}",
            button="Acknowledge",
            back="/stockouts/",
            done=f"The {marker.kind} of {marker.group.name} is acknowledged.",
            perform=lambda actor, given: operations.acknowledge_marker(
                actor, pk, given["note"], given["until"], given["version"]
            ),
            nav="stockouts",
            subject="Stock-outs",
            effects=_KNOWN + (_SILENT if marker.kind == Marker.Kind.STOCKOUT else ()),
            fields=(
                FormField("note", "Note", Input.LONG, "What is known, being done, and where to look.", required=True,
                          initial=marker.acknowledged_note),
                FormField("until", "Ask for an owner again", Input.AT,
                          "Until then it counts as acknowledged; from then on, while it lasts, as not acknowledged.",
                          spans=(("", "never, while it lasts"), *SPANS)),
            ),
            version=marker.version,
            template="acts/marker.html",
            context={"marker": marker},
        )  # fmt: skip

    return run(request, make, Act.ACKNOWLEDGE)


def clear(request: HttpRequest, pk: int) -> HttpResponse:
    def make() -> ActPage:
        marker = _marker(pk)
        return ActPage(
            act=Act.CLEAR_MARKER,
            title=f"Clear the {marker.kind} of {marker.group.name} and retry",
            button="Clear and retry",
            back="/stockouts/",
            done=f"The {marker.kind} of {marker.group.name} is cleared; the next cycle may buy there again.",
            perform=lambda actor, given: operations.clear_marker(actor, pk, given["reason"], given["version"]),
            nav="stockouts",
            subject="Stock-outs",
            effects=(
                "The failure is forgotten: the group may buy at full speed from the next cycle.",
                "If the platform still has none, it fails again and a new marker is set.",
            ),
            version=marker.version,
            change=changes.without_marker(marker.group.name, marker.kind),
            template="acts/marker.html",
            context={"marker": marker},
        )

    return run(request, make, Act.CLEAR_MARKER)


def hold(request: HttpRequest, pk: int) -> HttpResponse:
    def make() -> ActPage:
        marker = _marker(pk)
        return ActPage(
            act=Act.CLEAR_MARKER,
            title=f"Hold the {marker.kind} of {marker.group.name} longer",
            button="Hold",
            back="/stockouts/",
            done=f"The {marker.kind} of {marker.group.name} holds longer.",
            perform=lambda actor, given: operations.hold_marker(
                actor, pk, given["until"], given["reason"], given["version"]
            ),
            nav="stockouts",
            subject="Stock-outs",
            effects=("Nothing is bought in the group until then; its demand goes to the next group that fits.",),
            fields=(
                FormField("until", "How long, from now", Input.END, "Must lie after its present end.",
                          spans=(("", "choose how long"), *SPANS)),
                REASON,
            ),
            version=marker.version,
            change=changes.held_marker(marker.group.name, marker.kind, after_next_cycles()),
            stops=True,
            template="acts/marker.html",
            context={"marker": marker},
        )  # fmt: skip

    return run(request, make, Act.CLEAR_MARKER)


def after_next_cycles() -> datetime:
    """An end that the next cycle does not reach: how much later it is makes no difference to that one."""
    return clock.now() + timedelta(days=1)
