"""The charts of a deployment: p95, requests and replicas over a chosen range, as JSON for the page's script.

The page itself holds no points: it is there at once, and its charts are what javascript adds to it. Each chart comes
with a sentence that says the same.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from iris_web.access import Act, require
from iris_web.pages import words
from iris_web.pages.deployment_story import amount
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock
from scaling.deployment_history import Grid, History, Origin, read_history
from scaling.models import Deployment
from scaling.operations.deployment_fields import in_force

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Range:
    """A span of time that may be chosen, and how far apart its points are."""

    code: str
    label: str
    span_seconds: float
    step_seconds: float


RANGES = (
    Range("15m", "15 minutes", 900, 15),
    Range("1h", "hour", 3_600, 15),
    Range("6h", "6 hours", 21_600, 60),
    Range("24h", "24 hours", 86_400, 300),
    Range("7d", "7 days", 604_800, 1_800),
)
DEFAULT = "15m"
_BY_CODE = {one.code: one for one in RANGES}
RANGE = Param(
    "range", "Range", Kind.CHOICE, tuple((one.code, one.label) for one in RANGES), default=DEFAULT, shown=False
)
CHARTS = (
    ("latency", "p95 latency", "milliseconds"),
    ("rps", "Requests", "a second, all replicas together"),
    ("replicas", "Replicas", "healthy, warming and desired"),
)
"""(name, title, what it shows) of each chart, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Choice:
    code: str
    label: str
    address: str
    chosen: bool


def choices(state: PageState) -> list[Choice]:
    """The ranges as links; the place in the list of decisions is kept."""
    kept = {name: state[name] for name in ("after", "before")}
    return [
        Choice(one.code, one.label, state.address(range=one.code, **kept), one.code == state["range"]) for one in RANGES
    ]


@require_safe
def series(request: HttpRequest, deployment_id: str) -> HttpResponse:
    """`/deployments/<id>/series?range=1h`: all three charts. Whoever may see the page may see them."""
    from iris_web.pages.deployment import find

    require(request, Act.VIEW)
    row = find(deployment_id)
    state = PageState.read((RANGE,), request.GET.dict())
    if state.problems:
        return JsonResponse({"problem": next(iter(state.problems.values()))}, status=400)
    return JsonResponse(drawn(row, _BY_CODE[state["range"]]))


def drawn(row: Deployment, chosen: Range) -> dict[str, Any]:
    """`{"range", "note", "x", "charts": {name: {"series", "min", "summary"}}}`; unknown points are null."""
    step = max(chosen.step_seconds, float(settings.LYC.heartbeat_interval_seconds))
    grid = Grid.until(clock.now().timestamp(), chosen.span_seconds, step)
    history = read_history(row, grid)
    made = {
        "latency": _latency(row, history, chosen),
        "rps": _rps(row, history, chosen),
        "replicas": _replicas(row, history, chosen),
    }
    from_ticks = history.origin is Origin.TICKS
    return {
        "range": chosen.code,
        "step": grid.step_seconds,
        "note": history.note,
        "away": from_ticks and settings.LYC.enabled,
        "x": grid.moments,
        "charts": made,
    }


def _latency(row: Deployment, history: History, chosen: Range) -> dict[str, Any]:
    target = in_force(row, "target_latency_p95_ms") or None
    lines = [_line("p95", history.p95, "--busy-solid", "ms", fill=True)]
    if target:
        lines.append(_level("target", target, history, "--warn-solid", "ms"))
    return {"series": lines, "min": 0, "summary": _summary("p95 latency", history.p95, "ms", target, chosen)}


def _rps(row: Deployment, history: History, chosen: Range) -> dict[str, Any]:
    """The total, and what the healthy replicas of each moment may take together."""
    target = in_force(row, "target_rps") or None
    lines = [_line("requests", history.rps, "--busy-solid", "/s", fill=True)]
    if target:
        may_take = [None if healthy is None else healthy * target for healthy in history.replicas["healthy"]]
        lines.append(_line("target of all healthy", may_take, "--warn-solid", "/s", dash=True, step=True))
    return {"series": lines, "min": 0, "summary": _summary("Requests", history.rps, "a second", None, chosen)}


def _replicas(row: Deployment, history: History, chosen: Range) -> dict[str, Any]:
    seen = history.replicas
    low, high = int(in_force(row, "min_replicas")), int(in_force(row, "max_replicas"))
    lines = [
        _line("healthy", seen["healthy"], "--good-solid", "", fill=True, step=True),
        _line("warming", seen["warming"], "--coming-solid", "", step=True),
        _line("desired", seen["desired"], "--text", "", step=True),
        _level("min", low, history, "--calm-solid", ""),
        _level("max", high, history, "--bad-solid", ""),
    ]
    told = _summary("Healthy replicas", seen["healthy"], "", None, chosen)
    return {"series": lines, "min": 0, "summary": f"{told} The minimum is {low} and the maximum {high} now."}


def _line(label: str, values: Values, color: str, unit: str, **more: bool) -> dict[str, Any]:
    return {"label": label, "values": [_rounded(value) for value in values], "color": color, "unit": unit, **more}


def _level(label: str, value: float, history: History, color: str, unit: str) -> dict[str, Any]:
    """A line as it is now, over the whole range."""
    return _line(label, [value] * history.grid.count, color, unit, dash=True)


def _rounded(value: float | None) -> float | None:
    """Four digits are what a chart can show."""
    if not value:
        return value
    return round(value, max(0, 3 - math.floor(math.log10(abs(value)))))


def _summary(what: str, values: Values, unit: str, target: float | None, chosen: Range) -> str:
    """The chart in a sentence: lowest, highest, last, how long over the target, how much is unknown."""
    known = [value for value in values if value is not None]
    span = f"in the last {chosen.label}"
    if not known:
        return f"{what}: nothing is known {span}."
    unit = f" {unit}" if unit else ""
    parts = [f"{what} {span}: from {amount(min(known))} to {amount(max(known))}{unit}"]
    last = values[-1] if values[-1] is not None else values[-2] if len(values) > 1 else None
    parts.append(f"now {amount(last)}" if last is not None else "now unknown")
    if target:
        over = sum(value > target for value in known) / len(known)
        parts.append(f"over the present target of {words.number(target)}{unit} for {100 * over:.0f} % of the time")
    if unknown := len(values) - len(known):
        parts.append(f"unknown for {max(1, round(100 * unknown / len(values)))} %")
    return f"{', '.join(parts)}."
