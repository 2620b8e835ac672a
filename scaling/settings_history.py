"""What of a deployment's settings was in force at each moment of a chart, as far as people changed it.

The Gateway's own values are known as they are now; what an operator set in their place stands in the history of acts.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from scaling.grid import Grid
from scaling.models import Action, Deployment
from scaling.operations.acts import ActKind
from scaling.operations.deployment_fields import decides


def in_force_over(row: Deployment, names: Sequence[str], grid: Grid) -> dict[str, list[float | None]]:
    """Name (of EDIT_FIELDS) → its value at each of the grid's moments; None is none. One query."""
    edits = _edits(row, grid)
    return {name: _back_through(edits, row, name, grid) for name in names}


def _edits(row: Deployment, grid: Grid) -> list[tuple[float, dict[str, Any]]]:
    """(when, the values before it) of each edit since the grid's start, the latest first; forgetting takes all back."""
    acts = Action.objects.filter(
        target=f"deployment {row}",
        kind__in=(ActKind.SET_TARGETS, ActKind.FORGET),
        at__gt=datetime.fromtimestamp(grid.start, UTC),
    )
    return [(at.timestamp(), before or {}) for at, before in acts.order_by("-id").values_list("at", "before")]


def _back_through(
    edits: Sequence[tuple[float, dict[str, Any]]], row: Deployment, name: str, grid: Grid
) -> list[float | None]:
    ordered, told = row.overrides.get(name), list(edits)
    values: list[float | None] = []
    for moment in reversed(grid.moments):
        # A point on the grid stands for what comes up to the next one.
        while told and told[0][0] >= moment + grid.step_seconds:
            before = told.pop(0)[1]
            ordered = before.get(name, ordered)
        value = decides(name, ordered, getattr(row, name))
        values.append(None if value is None else float(value))
    return values[::-1]
