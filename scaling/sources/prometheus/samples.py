"""From the series of an answer to samples, one for each deployment asked for.

A value is taken as it was sent, NaN and the infinities too: what they mean is `scaling.replicas.metrics`' to say. Only
a finite one that no deployment can have counts as none, with an error that says so.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from scaling.replicas.metrics import MetricSample
from scaling.sources.prometheus.payload import Payload

NUMBERS = (int, float)
VALUES = (str, int, float)


@dataclass(frozen=True, slots=True)
class Samples:
    """A sample for each id; `unlabelled` counts the series that said of no deployment whose they are."""

    by_id: dict[str, MetricSample]
    unlabelled: int


def read_samples(payload: Payload, ids: Iterable[str], label: str, query: str, most: float) -> Samples:
    """Series of others are passed over; an id without a series has an empty sample (series 0)."""
    empty = MetricSample(series=0, warnings=payload.warnings, query=query)
    by_id = dict.fromkeys(ids, empty)
    unlabelled = 0
    for series in payload.series:
        labels = series.get("metric")
        name = labels.get(label) if isinstance(labels, dict) else None
        if not name:
            unlabelled += 1
            continue
        known = by_id.get(name) if isinstance(name, str) else None
        if known is empty:
            by_id[name] = _sample(series.get("value"), payload.warnings, query, most)
        elif known is not None:
            by_id[name] = replace(known, series=known.series + 1)
    return Samples(by_id, unlabelled)


def _sample(pair: object, warnings: tuple[str, ...], query: str, most: float) -> MetricSample:
    try:
        at, value = read_pair(pair)
        if not is_plausible(value, most):
            raise ValueError(f"its value is {value:g}, which no deployment can have (at most {most:,.0f})")
    except ValueError as error:
        return MetricSample(error=str(error), warnings=warnings, query=query)
    return MetricSample(value, at, warnings=warnings, query=query)


def is_plausible(value: float, most: float) -> bool:
    return not most < abs(value) < math.inf


def read_pair(pair: Any) -> tuple[float | None, float]:
    """`[time, "value"]` as numbers; a time that is none is None. Raises ValueError where there is no value."""
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError("the series holds no [time, value]")
    at, text = pair
    if type(text) not in VALUES:
        raise ValueError(f"its value is {text!s:.40}, not a number")
    try:
        value = float(text)
        return (float(at) if type(at) in NUMBERS and math.isfinite(at) else None), value
    except (ValueError, OverflowError):
        raise ValueError(f"its value or time is not a number: {text!s:.40}") from None
