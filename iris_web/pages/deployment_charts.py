"""The charts of a deployment: p95, requests and replicas over a chosen range, as JSON for the page's script.

The page itself holds no points: it is there at once, and its charts are what javascript adds to it. Each chart comes
with a sentence that says the same.
"""

import math
from collections.abc import Mapping, Sequence
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
from scaling.settings_history import in_force_over

Values = Sequence[float | None]
OverTime = Mapping[str, Values]
_SETTINGS = ("target_latency_p95_ms", "target_rps", "min_replicas", "max_replicas")


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
    state = PageState.read((RANGE,), request.GET)
    if state.problems:
        return JsonResponse({"problem": next(iter(state.problems.values()))}, status=400)
    return JsonResponse(drawn(row, _BY_CODE[state["range"]]))


def drawn(row: Deployment, chosen: Range) -> dict[str, Any]:
    """`{"range", "note", "x", "charts": {name: {"series", "min", "summary"}}}`; unknown points are null."""
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
        "charts": made,
    }


def _latency(history: History, over_time: OverTime, chosen: Range) -> dict[str, Any]:
    targets = _wanted(over_time["target_latency_p95_ms"])
    lines = [_line("p95", history.p95, "--busy-solid", "ms", fill=True)]
    if targets:
        lines.append(_level("target", targets, "--warn-solid", "ms"))
    return {"series": lines, "min": 0, "summary": _summary("p95 latency", history.p95, "ms", chosen, targets)}


def _rps(history: History, over_time: OverTime, chosen: Range) -> dict[str, Any]:
    """The total, and what the healthy replicas of each moment may take together."""
    targets = _wanted(over_time["target_rps"])
    lines = [_line("requests", history.rps, "--busy-solid", "/s", fill=True)]
    if targets:
        pairs = zip(history.replicas["healthy"], targets, strict=True)
        may_take = [None if healthy is None or target is None else healthy * target for healthy, target in pairs]
        lines.append(_level("target of all healthy", may_take, "--warn-solid", "/s"))
    return {"series": lines, "min": 0, "summary": _summary("Requests", history.rps, "a second", chosen)}


def _replicas(history: History, over_time: OverTime, chosen: Range) -> dict[str, Any]:
    seen, low, high = history.replicas, over_time["min_replicas"], over_time["max_replicas"]
    lines = [
        _line("healthy", seen["healthy"], "--good-solid", "", fill=True, step=True),
        _line("warming", seen["warming"], "--coming-solid", "", step=True),
        _line("desired", seen["desired"], "--text", "", step=True),
        _level("min", low, "--calm-solid", ""),
        _level("max", high, "--bad-solid", ""),
    ]
    told = _summary("Healthy replicas", seen["healthy"], "", chosen)
    return {
        "series": lines,
        "min": 0,
        "summary": f"{told} The minimum is {amount(low[-1] or 0)} and the maximum {amount(high[-1] or 0)} now.",
    }


def _wanted(targets: Values) -> Values:
    """The targets; those of 0 are none, and nothing where there never was one."""
    wanted = [target or None for target in targets]
    return wanted if any(wanted) else ()


def _line(label: str, values: Values, color: str, unit: str, **more: bool) -> dict[str, Any]:
    return {"label": label, "values": [_rounded(value) for value in values], "color": color, "unit": unit, **more}


def _level(label: str, values: Values, color: str, unit: str) -> dict[str, Any]:
    """What was in force at each moment."""
    return _line(label, values, color, unit, dash=True, step=True)


def _rounded(value: float | None) -> float | None:
    """Four digits are what a chart can show."""
    if not value:
        return value
    return round(value, max(0, 3 - math.floor(math.log10(abs(value)))))


def _summary(what: str, values: Values, unit: str, chosen: Range, targets: Values = ()) -> str:
    """The chart in a sentence: lowest, highest, last, how long over the target, how much is unknown."""
    known = [value for value in values if value is not None]
    span = f"in the last {chosen.label}"
    if not known:
        return f"{what}: nothing is known {span}."
    unit = f" {unit}" if unit else ""
    parts = [f"{what} {span}: from {amount(min(known))} to {amount(max(known))}{unit}"]
    last = values[-1] if values[-1] is not None else values[-2] if len(values) > 1 else None
    parts.append(f"now {amount(last)}" if last is not None else "now unknown")
    pairs = zip(values, targets, strict=False)
    judged = [value > target for value, target in pairs if value is not None and target is not None]
    if judged:
        now = f" (now {words.number(targets[-1])}{unit})" if targets[-1] else ""
        which = "the time" if len(judged) == len(known) else "the time that it had one"
        parts.append(f"over its target{now} for {100 * sum(judged) / len(judged):.0f} % of {which}")
    if unknown := len(values) - len(known):
        parts.append(f"unknown for {max(1, round(100 * unknown / len(values)))} %")
    return f"{', '.join(parts)}."
