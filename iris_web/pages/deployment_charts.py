"""The charts of a deployment: p95, requests and replicas over a chosen range, as JSON for the page's script."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from iris_web.access import Act, require
from iris_web.pages.chart_marks import marks
from iris_web.pages.charts import Range, Ranges, Values, level, line, summary
from iris_web.pages.deployment_story import amount
from iris_web.pages.url_params import PageState
from scaling import clock
from scaling.deployment_history import History, Origin, read_history
from scaling.grid import Grid
from scaling.models import Deployment
from scaling.settings_history import in_force_over

OverTime = Mapping[str, Values]
_SETTINGS = ("target_latency_p95_ms", "target_rps", "min_replicas", "max_replicas")
RANGES = Ranges(
    "15m",
    Range("15m", "15 minutes", 900, 15),
    Range("1h", "hour", 3_600, 15),
    Range("6h", "6 hours", 21_600, 60),
    Range("24h", "24 hours", 86_400, 300),
    Range("7d", "7 days", 604_800, 1_800),
)
CHARTS = (
    ("latency", "p95 latency", "milliseconds"),
    ("rps", "Requests", "a second, all replicas together"),
    ("replicas", "Replicas", "healthy, warming and desired"),
)
"""(name, title, what it shows) of each chart, in the order of the page."""


@require_safe
def series(request: HttpRequest, deployment_id: str) -> HttpResponse:
    """`/deployments/<id>/series?range=1h`: all three charts. Whoever may see the page may see them."""
    from iris_web.pages.deployment import find

    require(request, Act.VIEW)
    row = find(deployment_id)
    state = PageState.read((RANGES.param,), request.GET)
    if state.problems:
        return JsonResponse({"problem": next(iter(state.problems.values()))}, status=400)
    return JsonResponse(drawn(row, RANGES.chosen(state)))


def drawn(row: Deployment, chosen: Range) -> dict[str, Any]:
    """`{"range", "note", "x", "marks", "charts": {name: {"series", "whole", "summary"}}}`; unknown points are null."""
    step = max(chosen.step_seconds, float(settings.LYC.heartbeat_interval_seconds))
    grid = Grid.until(clock.now().timestamp(), chosen.span_seconds, step)
    history, over_time = read_history(row, grid), in_force_over(row, _SETTINGS, grid)
    made = {
        "latency": _latency(history, over_time, chosen),
        "rps": _rps(history, over_time, chosen),
        "replicas": _replicas(history, over_time, chosen),
    }
    from_ticks = history.origin is Origin.TICKS
    return {
        "range": chosen.code,
        "step": grid.step_seconds,
        "note": history.note,
        "away": from_ticks and settings.LYC.enabled,
        "x": grid.moments,
        "marks": marks(grid, target=f"deployment {row}"),
        "charts": made,
    }


def _latency(history: History, over_time: OverTime, chosen: Range) -> dict[str, Any]:
    targets = _wanted(over_time["target_latency_p95_ms"])
    lines = [line("p95", history.p95, "--busy-solid", "ms", fill=True)]
    if targets:
        lines.append(level("target", targets, "--warn-solid", "ms"))
    return {"series": lines, "summary": summary("p95 latency", history.p95, "ms", chosen, targets)}


def _rps(history: History, over_time: OverTime, chosen: Range) -> dict[str, Any]:
    """The total, and what the healthy replicas of each moment may take together."""
    targets = _wanted(over_time["target_rps"])
    lines = [line("requests", history.rps, "--busy-solid", "/s", fill=True)]
    if targets:
        pairs = zip(history.replicas["healthy"], targets, strict=True)
        may_take = [None if healthy is None or target is None else healthy * target for healthy, target in pairs]
        lines.append(level("target of all healthy", may_take, "--warn-solid", "/s"))
    return {"series": lines, "summary": summary("Requests", history.rps, "a second", chosen)}


def _replicas(history: History, over_time: OverTime, chosen: Range) -> dict[str, Any]:
    seen, low, high = history.replicas, over_time["min_replicas"], over_time["max_replicas"]
    lines = [
        line("healthy", seen["healthy"], "--good-solid", "", fill=True, step=True),
        line("warming", seen["warming"], "--coming-solid", "", step=True),
        line("desired", seen["desired"], "--text", "", step=True),
        level("min", low, "--calm-solid", ""),
        level("max", high, "--bad-solid", ""),
    ]
    told = summary("Healthy replicas", seen["healthy"], "", chosen)
    return {
        "series": lines,
        "whole": True,
        "summary": f"{told} The minimum is {amount(low[-1] or 0)} and the maximum {amount(high[-1] or 0)} now.",
    }


def _wanted(targets: Values) -> Values:
    """The targets; those of 0 are none, and nothing where there never was one."""
    wanted = [target or None for target in targets]
    return wanted if any(wanted) else ()
