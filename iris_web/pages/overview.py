"""`/`: is the cluster all right?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Sum
from django.http import HttpRequest, HttpResponse

from iris_web import facts
from iris_web.access import Act, Role, require
from iris_web.health import cycle_period_seconds
from iris_web.live.fragments import Context, Fragment, ListFragment, Params, Row, register
from iris_web.pages import capacity, health, routine
from iris_web.pages.action_rows import action_row, action_rows, new_actions
from iris_web.pages.amounts import read_all_counts, state_counts
from iris_web.pages.demand import waiting_jobs
from iris_web.pages.hint_words import completed
from iris_web.pages.markers import open_order, rows_of
from iris_web.pages.shell import render_page, stale_after_seconds
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Action, Job, Marker
from scaling.once import asking_once, fact
from scaling.open_markers import OPEN, count_open

ACTIONS_SHOWN = 10
MARKERS_SHOWN = 6
JOBS_SHOWN = 5
_OF_A_JOB = ("source", "job_id", "submitted_at", "hint__code", "hint__reason", "hint__blocked_by")
_OF_A_MARKER = (
    "kind", "since", "until", "acknowledged_at", "acknowledged_by", "acknowledged_note", "acknowledged_until",
    "failures", "needs_person", "group__name",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Waiting:
    """The jobs that wait: how many in all, and by hint, the most frequent first ("" = given room, no hint)."""

    jobs: int
    tasks: int
    oldest: datetime | None
    codes: list[tuple[str, int]]


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    with asking_once():
        # The picture is made of these; the figures above it then ask no more.
        read_all_counts()
        return render_page(request, "pages/overview.html", {}, nav="overview")


@fact
def read_waiting() -> Waiting:
    """One query."""
    rows = waiting_jobs().order_by().values_list("hint__code")
    found = list(rows.annotate(n=Count("pk"), tasks=Sum("pending_tasks"), oldest=Min("submitted_at")))
    codes = sorted(((code or "", jobs) for code, jobs, *_ in found), key=lambda pair: (not pair[0], -pair[1]))
    oldest = min((since for *_, since in found), default=None)
    return Waiting(sum(row[1] for row in found), sum(row[2] for row in found), oldest, codes)


def numbers(_params: Params, _role: Role) -> Context:
    """The figures over the page: slices, demand, stock-outs, the last cycle. Four queries."""
    slices = _slices()
    return {
        "slices": slices,
        "busy_percent": round(100 * slices["busy"] / slices["ready"]) if slices["ready"] else None,
        "jobs": read_waiting(),
        "markers": count_open(),
        "cycle": facts.last_cycle(),
        "stale_after": stale_after_seconds(cycle_period_seconds()),
    }


def _slices() -> dict[str, int]:
    """Slices that are ready, busy, coming and leaving. One query."""
    used, free, booting, requesting, leaving = state_counts()
    return {"ready": used + free, "busy": used, "coming": booting + requesting, "leaving": leaving}


def waiting(_params: Params, _role: Role) -> Context:
    """Why jobs wait, and those that have waited longest. Four queries at most."""
    found = read_waiting()
    # Looked for by their ids alone, and only these rows read whole.
    longest = waiting_jobs().order_by("submitted_at", "pk").values("pk")[:JOBS_SHOWN]
    rows = Job.objects.filter(pk__in=longest).select_related("hint").only(*_OF_A_JOB).order_by("submitted_at", "pk")
    shown = list(rows) if found.jobs else []
    hints = (job.hint for job in shown if hasattr(job, "hint"))
    return {"waiting": found, "rows": shown, "completed": completed(hints)}


def picture(_params: Params, _role: Role) -> Context:
    return {"picture": capacity.read_picture()}


def stockouts(_params: Params, _role: Role) -> Context:
    """Open markers, those that nobody has seen to first. Two queries."""
    now = clock.now()
    rows = Marker.objects.filter(OPEN).select_related("group").order_by(*open_order(now))
    shown = rows_of(rows.only(*_OF_A_MARKER)[:MARKERS_SHOWN], now)
    return {"markers": shown, "more": max(0, count_open().total - len(shown)), "now": now}


def latest_actions(_params: Params, _role: Role) -> Context:
    """The newest but for routine. One query."""
    rows = routine.without(Action.objects.order_by("-id"))[:ACTIONS_SHOWN]
    return {"actions": action_rows(list(rows))}


def _new_rows(_params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    rows = (row for row in new_actions(events) if row.kind not in routine.ROUTINE)
    return (Row(f"action-{row.pk}", {"row": action_row(row)}) for row in rows)


def loops(_params: Params, _role: Role) -> Context:
    return {"loops": health.loops(clock.now())}


register(
    Fragment("overview.numbers", "partials/overview_numbers.html", numbers,
             {"slices", "groups", "jobs", "markers", "cycle"}),
    Fragment("overview.capacity", "partials/capacity.html", picture, {"slices", "groups", "cycle"}),
    Fragment("overview.waiting", "partials/overview_waiting.html", waiting, {"jobs", "cycle"}),
    Fragment("overview.stockouts", "partials/overview_stockouts.html", stockouts, {"markers", "cycle"}),
    ListFragment("overview.actions", "partials/overview_actions.html", latest_actions, {"actions"},
                 row_template="partials/action_line.html", rows=_new_rows),
    Fragment("overview.loops", "partials/loops_short.html", loops, {"loops", "cycle"}),
)  # fmt: skip
