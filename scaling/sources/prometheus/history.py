"""One deployment's past, a point for every step: where there is no sample, the value is None."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scaling.sources.prometheus.answers import Point
from scaling.sources.prometheus.errors import PrometheusBroken
from scaling.sources.prometheus.payload import Payload
from scaling.sources.prometheus.samples import is_plausible, read_pair

MOST_POINTS = 11_000
"""Prometheus refuses a range with more."""
LATEST = 253_402_300_799
"""The end of the year 9999, the last that a date can be."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The times asked for: `start`, and every `seconds` after it up to `end`."""

    start: float
    end: float
    seconds: float

    @property
    def times(self) -> list[float]:
        count = math.floor((self.end - self.start) / self.seconds + 1e-9) + 1
        return [self.start + number * self.seconds for number in range(count)]


def steps_between(start: float, end: float, step_seconds: float) -> Steps:
    """Whole seconds at the ends, as the library sends them; a step too small for the range is widened to fit.

    Raises ValueError for a range or step that is none.
    """
    if not 0 <= start <= end <= LATEST or not 0 < step_seconds < math.inf:
        raise ValueError("The range must end after it begins, in Unix seconds, and its step be more than 0 s.")
    first, last = round(start), round(end)
    smallest = math.ceil((last - first) / (MOST_POINTS - 1) * 1000) / 1000
    return Steps(first, last, max(round(step_seconds, 3), smallest, 0.001))


def read_points(payload: Payload, steps: Steps, most: float) -> tuple[Point, ...]:
    """Raises PrometheusBroken for several series or values that are none. A value over `most` counts as no sample."""
    if len(payload.series) > 1:
        raise PrometheusBroken(f"Prometheus answered with {len(payload.series)} series for one deployment.")
    values = payload.series[0].get("values") if payload.series else []
    if not isinstance(values, list):
        raise PrometheusBroken("Prometheus answered with a series without values.")
    by_number = _by_number(values, steps, most)
    return tuple((at, by_number.get(number)) for number, at in enumerate(steps.times))


def _by_number(values: Sequence[object], steps: Steps, most: float) -> dict[int, float]:
    found: dict[int, float] = {}
    for pair in values:
        try:
            at, value = read_pair(pair)
        except ValueError as error:
            raise PrometheusBroken(f"Prometheus answered with a point that cannot be read: {error}.") from None
        if at is not None and math.isfinite(value) and is_plausible(value, most):
            found[round((at - steps.start) / steps.seconds)] = value
    return found
