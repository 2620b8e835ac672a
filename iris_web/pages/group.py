"""`/groups/<name>/`: what is this group doing, and why not more?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Min, Q, Sum, Value, When
from django.http import Http404, HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, ListFragment, Params, Row, register
from iris_web.live.times import duration_text
from iris_web.pages import addresses, group_charts, words
from iris_web.pages.action_rows import action_row, action_rows, new_actions
from iris_web.pages.group_state import chain, get_group, head, status_of
from iris_web.pages.markers import open_order, rows_of
from iris_web.pages.releases import Crew, Situation, Why, why_kept
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock
from scaling.autoscaler.reclaim import spare_slices
from scaling.autoscaler.words import Outcome
from scaling.feed import FeedEvent
from scaling.models import Action, Group, Installation, Marker, Platform, Slice, Task, Worker
from scaling.open_markers import OPEN
from scaling.pool_room import limit_of

PARAMS = (Param("page", "Page", Kind.NUMBER, default="1", shown=False), group_charts.RANGES.param)
SLICES_SHOWN = 100
ACTIONS_SHOWN = 15
CLOSED_MARKERS_SHOWN = 5
# Coming, then idle, busy and leaving: what may change next is at the top.
_STATE_ORDER = ("REQUESTING", "BOOTING", "READY", "DRAINING", "TERMINATING")


def view(request: HttpRequest, name: str) -> HttpResponse:
    require(request, Act.VIEW)
    group = Group.objects.only("name").filter(name=name).first()
    if group is None:
        raise Http404(f"There is no group {name}.")
    state = PageState.read(PARAMS, request.GET)
    context = {
        "name": name,
        "state": state,
        "ranges": group_charts.RANGES.choices(state),
        "charts": group_charts.CHARTS,
        "series": f"{addresses.group(name)}series?range={state['range']}",
    }
    return render_page(request, "pages/group.html", context, nav="groups")


def facts(params: Params, _role: Role) -> Context:
    """Limits, what is held, and the pool that pays. Three queries."""
    group = get_group(params)
    counts = Counter(
        dict(
            Slice.objects.filter(group=group, state__in=Slice.LIVE)
            .order_by()
            .values_list("state")
            .annotate(n=Count("pk"))
        )
    )
    drain = group.drain_idle_threshold_seconds
    # A CPU worker is its own device.
    counts_devices = group.devices_per_worker > 0 and group.device_type != "cpu"
    return {
        "group": group,
        "status": status_of(group),
        "counts": counts,
        "in_flight": counts["REQUESTING"] + counts["BOOTING"],
        "held": sum(counts.values()),
        "idle": duration_text(group.idle_threshold_seconds),
        "drain_idle": duration_text(2 * group.idle_threshold_seconds if drain is None else drain),
        "timeout": duration_text(group.provision_timeout_seconds),
        "slice_devices": words.devices(group.devices_per_worker * group.workers_per_slice, group.device_type)
        if counts_devices
        else words.plural(group.workers_per_slice, "worker"),
        "slice_workers": words.plural(group.workers_per_slice, "worker") if counts_devices else "",
        "pool": group.quota_pool,
        "pool_limit": limit_of(group.quota_pool) if group.quota_pool else None,
    }


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A slice with its crew, and why it is still there."""

    slice: Slice
    code: str
    crew: Crew
    why: Why
    drainable: bool

    @property
    def since(self) -> datetime:
        return self.slice.ready_at or self.slice.requested_at


def slices(params: Params, _role: Role) -> Context:
    """One page of the slices that are not gone. Seven queries, whatever their number."""
    group = get_group(params)
    state = PageState.read(PARAMS, QueryDict(params.get("query", "")))
    live = Slice.objects.filter(group=group, state__in=Slice.LIVE)
    totals = live.aggregate(all=Count("pk"), ready=Count("pk", filter=Q(state="READY", drain_since__isnull=True)))
    page, beyond = state.page_of(totals["all"], SLICES_SHOWN)
    first = (page - 1) * SLICES_SHOWN
    rank = Case(*(When(state=s, then=Value(n)) for n, s in enumerate(_STATE_ORDER)), output_field=IntegerField())
    found = list(live.order_by(rank, F("idle_since").asc(nulls_last=True), "name")[first : first + SLICES_SHOWN])
    return {
        "group": group,
        "rows": slice_rows(group, found, totals["ready"]),
        "total": totals["all"],
        "beyond": beyond,
        "first": first + 1,
        "last": first + len(found),
        "previous": state.address(page=str(page - 1)) if page > 1 else "",
        "next": state.address(page=str(page + 1)) if first + SLICES_SHOWN < totals["all"] else "",
    }


def slice_rows(group: Group, found: Sequence[Slice], ready: int) -> list[SliceRow]:
    """Slices with their crews. Four queries: workers, tasks, whether all is halted, which may go."""
    crews = crews_of([row.pk for row in found])
    status, now, held = status_of(group), clock.now(), _held(group)
    target = status.target if status else 0
    spare = _spare(group, spare_slices(ready, target))
    rows = []
    for row in found:
        crew = crews.get(row.pk, Crew())
        situation = Situation(row, group, crew, target, ready, now, row.pk in spare, held)
        rows.append(
            SliceRow(row, slice_code(row), crew, why_kept(situation), row.state in ("REQUESTING", "BOOTING", "READY"))
        )
    return rows


def _spare(group: Group, number: int) -> set[int]:
    """The READY slices that may go so that the target is left: the longest idle. What is kept for a gang is not."""
    counted = Slice.objects.filter(group=group, state=Slice.State.READY, drain_since=None, gang="")
    idle = counted.filter(idle_since__isnull=False, delete_asked_at=None).order_by("idle_since", "name")
    return set(idle.values_list("pk", flat=True)[:number]) if number else set()


def _held(group: Group) -> str:
    """Why nothing of the group is released at all, whatever else holds."""
    if Installation.objects.filter(halted_since__isnull=False).exists():
        return "releasing is halted"
    if group.platform.mode == Platform.Mode.OBSERVE:
        return "the platform is in observe mode"
    status = status_of(group)
    unlisted = status is not None and status.outcome == Outcome.PLATFORM_UNREACHABLE
    return "its platform cannot be listed" if unlisted else ""


def slice_code(row: Slice) -> str:
    """The word of the SLICE looks: a READY slice is BUSY or IDLE, or DRAINING by an operator's order."""
    if row.state != Slice.State.READY:
        return row.state
    if row.drain_since:
        return "DRAINING"
    return "BUSY" if row.idle_since is None else "IDLE"


def crews_of(slice_ids: Sequence[int]) -> dict[int, Crew]:
    """The crews of these slices. Two queries."""
    ready = Q(state=Worker.State.READY)
    counted = (
        Worker.objects.filter(slice_id__in=slice_ids)
        .order_by()
        .values("slice_id")
        .annotate(
            workers=Count("pk"),
            ready=Count("pk", filter=ready),
            busy=Count("pk", filter=ready & Q(idle_since__isnull=True)),
            unknown=Count("pk", filter=Q(state=Worker.State.UNKNOWN)),
            lost=Count("pk", filter=Q(state=Worker.State.NOT_FOUND)),
            unknown_since=Min("unknown_since"),
            reported=Sum("reported_tasks"),
        )
    )
    tasks = {
        row["worker__slice_id"]: row
        for row in Task.objects.filter(state__in=Task.ACTIVE, worker__slice_id__in=slice_ids)
        .order_by()
        .values("worker__slice_id")
        .annotate(tasks=Count("pk"), jobs=Count("job_id", distinct=True))
    }
    return {row["slice_id"]: _crew(row, tasks.get(row["slice_id"])) for row in counted}


def _crew(row: Mapping[str, Any], placed: Mapping[str, Any] | None) -> Crew:
    """A crew from the counts of its workers and of the tasks that Iris placed there."""
    counts = {name: row[name] for name in ("workers", "ready", "busy", "unknown", "lost", "unknown_since")}
    tasks, jobs = (placed["tasks"], placed["jobs"]) if placed else (0, 0)
    return Crew(**counts, tasks=tasks + row["reported"], jobs=jobs)


def markers(params: Params, _role: Role) -> Context:
    """Open markers, and the last that were closed. Two queries."""
    of_group, now = Marker.objects.filter(group__name=params["name"]).select_related("group"), clock.now()
    return {
        "open": rows_of(of_group.filter(OPEN).order_by(*open_order(now)), now),
        "closed": list(of_group.filter(closed_at__isnull=False).order_by("-closed_at")[:CLOSED_MARKERS_SHOWN]),
        "now": now,
        "name": params["name"],
    }


def actions(params: Params, _role: Role) -> Context:
    rows = Action.objects.filter(group=params["name"]).order_by("-id")[:ACTIONS_SHOWN]
    return {"actions": action_rows(list(rows)), "name": params["name"]}


def _new_rows(params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    return (
        Row(f"action-{row.pk}", {"row": action_row(row), "within": row.group})
        for row in new_actions(events)
        if row.group == params["name"]
    )


def _topics(params: Params) -> set[str]:
    return {f"group:{params['name']}", "cycle"}


_NAME: Any = frozenset({"name"})
register(
    Fragment("group.head", "partials/group_head.html", head, lambda p: {*_topics(p), "platforms"}, _NAME),
    Fragment("group.chain", "partials/group_chain.html", chain, _topics, _NAME),
    Fragment("group.facts", "partials/group_facts.html", facts, _topics, _NAME),
    Fragment("group.slices", "partials/group_slices.html", slices, _topics, frozenset({"name", "query"})),
    Fragment("group.markers", "partials/group_markers.html", markers, _topics, _NAME),
    ListFragment("group.actions", "partials/group_actions.html", actions, {"actions"}, _NAME,
                 row_template="partials/action_line.html", rows=_new_rows),
)  # fmt: skip
