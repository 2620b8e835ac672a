"""The last finite bucket of the latency histogram: beyond it every latency looks alike."""

import math
from collections.abc import Iterable
from typing import Any

from scaling.sources.prometheus.settings import PrometheusSettings


def buckets_query(settings: PrometheusSettings) -> str:
    """One series for each bucket there is, whoever has it."""
    return f"group by (le) ({settings.p95_metric})"


def last_finite(series: Iterable[Any]) -> float | None:
    """The largest bound that is a finite number; None where there is none."""
    return max((bound for one in series if (bound := _bound(one)) is not None), default=None)


def _bound(series: Any) -> float | None:
    labels = series.get("metric")
    try:
        bound = float(labels["le"])
    except (KeyError, TypeError, ValueError):
        return None
    return bound if math.isfinite(bound) else None
