"""A deployment's charts over a range of time: the load from Prometheus, the replicas from what the ticks saw.

Where Prometheus does not answer, the load comes from the ticks too, and `note` says so. Points stand on a grid of
`step_seconds`; one for which nothing is known is None: a gap is a gap, never zero.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db.models import F, Max

from scaling.grid import Grid, StepNumber
from scaling.models import Deployment, DeploymentSample

# A page waits no longer than this for its charts.
DEADLINE_SECONDS = 5.0
_SEEN = ("healthy", "warming", "desired")
# Ticks keep a sample at most this far apart (a large fleet's every minute); without a newer one it stands so long.
SAMPLE_STANDS_SECONDS = 75.0


class Origin(StrEnum):
    """Where the load of a chart comes from."""

    PROMETHEUS = "prometheus"
    TICKS = "ticks"


@dataclass(frozen=True, slots=True)
class History:
    """Values on the grid: p95 in milliseconds, total requests per second, replicas. `note`: what a reader must know."""

    grid: Grid
    p95: Sequence[float | None]
    rps: Sequence[float | None]
    replicas: dict[str, Sequence[float | None]] = field(default_factory=dict)
    origin: Origin = Origin.PROMETHEUS
    note: str = ""


def read_history(row: Deployment, grid: Grid, deadline_seconds: float = DEADLINE_SECONDS) -> History:
    """One query of the database, and at most `deadline_seconds` of Prometheus."""
    seen = _seen(row, grid)
    replicas: dict[str, Sequence[float | None]] = {name: seen[name] for name in _SEEN}
    if not settings.LYC.enabled:
        return History(grid, seen["p95_ms"], seen["rps"], replicas, Origin.TICKS, "Drawn from what Iris saw itself.")
    # Its HTTP client takes a second to load: only who looks at a chart waits for it.
    from scaling.sources import configured

    told = configured.prometheus().history(row.deployment_id, grid.start, grid.end, grid.step_seconds, deadline_seconds)
    if not told.error:
        note = "; ".join(told.warnings)
        return History(grid, grid.place(told.p95), grid.place(told.rps), replicas, Origin.PROMETHEUS, note)
    note = f"Prometheus does not answer ({told.error}). Drawn from what Iris saw at its own ticks."
    return History(grid, seen["p95_ms"], seen["rps"], replicas, Origin.TICKS, note)


def _seen(row: Deployment, grid: Grid) -> dict[str, list[float | None]]:
    """What the ticks saw: the latest sample of each step. One query, as many rows as the grid has moments."""
    start = datetime.fromtimestamp(grid.start - SAMPLE_STANDS_SECONDS, UTC)
    end = datetime.fromtimestamp(grid.end, UTC) + timedelta(seconds=grid.step_seconds)
    within = DeploymentSample.objects.filter(deployment=row, at__gte=start, at__lt=end).order_by()
    latest = within.annotate(step=StepNumber(F("at"), grid.step_seconds)).values("step").annotate(last=Max("pk"))
    columns = ("p95_ms", "rps", *_SEEN)
    found = DeploymentSample.objects.filter(pk__in=latest.values("last")).order_by("at").values_list("at", *columns)
    points = [(at.timestamp(), values) for at, *values in found]
    stands = max(1, math.floor(SAMPLE_STANDS_SECONDS / grid.step_seconds))
    return {
        name: grid.place(
            ((at, None if values[index] is None else float(values[index])) for at, values in points), stands
        )
        for index, name in enumerate(columns)
    }
