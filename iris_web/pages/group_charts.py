"""The chart of a group: ready, in flight, demand and max over a chosen range, as JSON for the page's script."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from iris_web.access import Act, require
from iris_web.pages.chart_marks import marks
from iris_web.pages.charts import Range, Ranges, latest, level, line, summary
from iris_web.pages.url_params import PageState
from iris_web.pages.words import plural
from scaling import clock
from scaling.grid import Grid
from scaling.group_history import GroupHistory, read_group_history
from scaling.models import Group

RANGES = Ranges(
    "24h",
    Range("1h", "hour", 3_600, 60),
    Range("6h", "6 hours", 21_600, 60),
    Range("24h", "24 hours", 86_400, 300),
    Range("7d", "7 days", 604_800, 1_800),
)
CHARTS = (("slices", "Slices", "demand is what the work placed here needs"),)
"""(name, title, what it shows), as those of a deployment."""


@require_safe
def series(request: HttpRequest, name: str) -> HttpResponse:
    """`/groups/<name>/series?range=24h`. Whoever may see the page may see it."""
    require(request, Act.VIEW)
    group = Group.objects.select_related("status").only("name", "status__at").filter(name=name).first()
    if group is None:
        raise Http404(f"There is no group {name}.")
    state = PageState.read((RANGES.param,), request.GET)
    if state.problems:
        return JsonResponse({"problem": next(iter(state.problems.values()))}, status=400)
    return JsonResponse(drawn(group, RANGES.chosen(state)))


def drawn(group: Group, chosen: Range) -> dict[str, Any]:
    """As `deployment_charts.drawn`. Two queries, and the marks."""
    grid = Grid.until(clock.now().timestamp(), chosen.span_seconds, chosen.step_seconds)
    return {
        "range": chosen.code,
        "step": grid.step_seconds,
        "note": "",
        "away": False,
        "x": grid.moments,
        "marks": marks(grid, group=group.name),
        "charts": {"slices": _slices(read_group_history(group, grid), chosen)},
    }


def _slices(history: GroupHistory, chosen: Range) -> dict[str, Any]:
    lines = [
        line("ready", history.ready, "--good-solid", "", fill=True, step=True),
        line("in flight", history.in_flight, "--coming-solid", "", step=True),
        line("demand", history.demand, "--text", "", step=True),
        level("max", history.maximum, "--bad-solid", ""),
    ]
    return {"series": lines, "whole": True, "summary": _told(history, chosen)}


def _told(history: GroupHistory, chosen: Range) -> str:
    """The chart in a sentence, and since when what is held has been the most that may be."""
    told = summary("Ready slices", history.ready, "", chosen)
    demand, maximum = latest(history.demand), latest(history.maximum)
    if demand is None or maximum is None:
        return told
    full = history.full_steps
    span = f" It has been full for {100 * full / history.known_steps:.0f} % of the time that is known." if full else ""
    return f"{told} Latest demand {plural(int(demand), 'slice')}, max {maximum:.0f}.{span}"
