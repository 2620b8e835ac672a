"""`/`: is the cluster all right?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Min, Q, Sum
from django.http import HttpRequest, HttpResponse

from iris_web.access import Act, Role, require
from iris_web.health import cycle_period_seconds
from iris_web.live.fragments import Context, Fragment, ListFragment, Params, Row, register
from iris_web.pages import capacity, health, routine
from iris_web.pages.action_rows import action_row, new_actions
from iris_web.pages.demand import waiting_jobs
from iris_web.pages.markers import OPEN, count_open, open_order, rows_of
from iris_web.pages.shell import render_page, stale_after_seconds
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Action, Cycle, Hint, Marker, Slice

ACTIONS_SHOWN = 10
MARKERS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class HintCount:
    code: str
    jobs: int


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    return render_page(request, "pages/overview.html", {}, nav="overview")


def numbers(_params: Params, _role: Role) -> Context:
    """The figures over the page: slices, demand, stock-outs, the last cycle. Five queries."""
    slices = Slice.objects.filter(state__in=Slice.LIVE).aggregate(
        ready=Count("pk", filter=Q(state="READY")),
        busy=Count("pk", filter=Q(state="READY", idle_since__isnull=True)),
        coming=Count("pk", filter=Q(state__in=("REQUESTING", "BOOTING"))),
        leaving=Count("pk", filter=Q(state__in=("DRAINING", "TERMINATING"))),
    )
    jobs = waiting_jobs().aggregate(jobs=Count("pk"), tasks=Sum("pending_tasks"), oldest=Min("submitted_at"))
    codes = Hint.objects.filter(job__in=waiting_jobs()).order_by().values("code").annotate(n=Count("pk"))
    counts = [HintCount(row["code"], row["n"]) for row in sorted(codes, key=lambda row: -row["n"])]
    busy_percent = round(100 * slices["busy"] / slices["ready"]) if slices["ready"] else None
    cycle = Cycle.objects.order_by("-id").first()
    return {
        "slices": slices,
        "busy_percent": busy_percent,
        "jobs": jobs,
        "hint_counts": counts,
        "unhinted": max(0, jobs["jobs"] - sum(row.jobs for row in counts)),
        "markers": count_open(clock.now()),
        "cycle": cycle,
        "stale_after": stale_after_seconds(cycle_period_seconds()),
    }


def picture(_params: Params, _role: Role) -> Context:
    return {"picture": capacity.read_picture()}


def stockouts(_params: Params, _role: Role) -> Context:
    """Open markers, those that nobody has seen to first. Two queries."""
    now = clock.now()
    rows = Marker.objects.filter(OPEN)
    shown = rows_of(rows.select_related("group").order_by(*open_order(now))[:MARKERS_SHOWN], now)
    return {"markers": shown, "more": rows.count() - len(shown), "now": now}


def latest_actions(_params: Params, _role: Role) -> Context:
    """The newest but for routine. One query."""
    rows = routine.without(Action.objects.order_by("-id"))[:ACTIONS_SHOWN]
    return {"actions": [action_row(row) for row in rows]}


def _new_rows(_params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    rows = (row for row in new_actions(events) if row.kind not in routine.ROUTINE)
    return (Row(f"action-{row.pk}", {"row": action_row(row)}) for row in rows)


def loops(_params: Params, _role: Role) -> Context:
    return {"loops": health.loops(clock.now())}


register(
    Fragment("overview.numbers", "partials/overview_numbers.html", numbers,
             {"slices", "groups", "jobs", "markers", "cycle"}),
    Fragment("overview.capacity", "partials/capacity.html", picture, {"slices", "groups", "cycle"}),
    Fragment("overview.stockouts", "partials/overview_stockouts.html", stockouts, {"markers", "cycle"}),
    ListFragment("overview.actions", "partials/overview_actions.html", latest_actions, {"actions"},
                 row_template="partials/action_line.html", rows=_new_rows),
    Fragment("overview.loops", "partials/loops_short.html", loops, {"loops", "cycle"}),
)  # fmt: skip
