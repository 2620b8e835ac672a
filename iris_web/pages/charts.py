"""What every page with charts shares: ranges of time to choose, lines, and each chart as a sentence.

The page itself holds no points: it is there at once, and its charts are what javascript adds to it, from an address
that answers with `Drawn` as JSON.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iris_web.pages import words
from iris_web.pages.deployment_story import amount
from iris_web.pages.url_params import Kind, PageState, Param

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Range:
    """A span of time that may be chosen, and how far apart its points are."""

    code: str
    label: str
    span_seconds: float
    step_seconds: float


@dataclass(frozen=True, slots=True)
class Choice:
    code: str
    label: str
    address: str
    chosen: bool


class Ranges:
    """The ranges of a page, one of them the usual one; `param` is the page's parameter."""

    def __init__(self, usual: str, *ranges: Range) -> None:
        self.all = ranges
        self.param = Param(
            "range", "Range", Kind.CHOICE, tuple((one.code, one.label) for one in ranges), default=usual, shown=False
        )

    def chosen(self, state: PageState) -> Range:
        return next(one for one in self.all if one.code == state["range"])

    def choices(self, state: PageState, *kept: str) -> list[Choice]:
        """As links; these other parameters of the page are kept."""
        others = {name: state[name] for name in kept}
        chosen = self.chosen(state)
        return [Choice(one.code, one.label, state.address(range=one.code, **others), one is chosen) for one in self.all]


def line(label: str, values: Values, color: str, unit: str, **more: bool) -> dict[str, Any]:
    return {"label": label, "values": [_rounded(value) for value in values], "color": color, "unit": unit, **more}


def level(label: str, values: Values, color: str, unit: str) -> dict[str, Any]:
    """What was in force at each moment."""
    return line(label, values, color, unit, dash=True, step=True)


def _rounded(value: float | None) -> float | None:
    """Four digits are what a chart can show."""
    if not value:
        return value
    return round(value, max(0, 3 - math.floor(math.log10(abs(value)))))


def latest(values: Values) -> float | None:
    """The newest step may have just begun, and not be known yet."""
    return values[-1] if values[-1] is not None else values[-2] if len(values) > 1 else None


def summary(what: str, values: Values, unit: str, chosen: Range, targets: Values = ()) -> str:
    """The chart in a sentence: lowest, highest, last, how long over the target, how much is unknown."""
    known = [value for value in values if value is not None]
    span = f"in the last {chosen.label}"
    if not known:
        return f"{what}: nothing is known {span}."
    unit = f" {unit}" if unit else ""
    parts = [f"{what} {span}: from {amount(min(known))} to {amount(max(known))}{unit}"]
    last = latest(values)
    parts.append(f"latest {amount(last)}" if last is not None else "the latest unknown")
    pairs = zip(values, targets, strict=False)
    judged = [value > target for value, target in pairs if value is not None and target is not None]
    if judged:
        now = f" (now {words.number(targets[-1])}{unit})" if targets[-1] else ""
        which = "the time" if len(judged) == len(known) else "the time that it had one"
        parts.append(f"over its target{now} for {100 * sum(judged) / len(judged):.0f} % of {which}")
    if unknown := len(values) - len(known):
        parts.append(f"unknown for {max(1, round(100 * unknown / len(values)))} %")
    return f"{', '.join(parts)}."
