"""A group's slices over a range of time, as its cycles saw them.

A cycle stores a sample only where something differs from the cycle before, so a sample stands until the next one. Where
no cycles came for a while nothing is known: the first one after that stores an empty sample where the gap began.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from django.conf import settings
from django.db.models import F, Max

from scaling.grid import Grid, StepNumber
from scaling.models import Group, GroupSample

_FIELDS = ("ready", "in_flight", "demand", "max_slices")
Values = Sequence[float | None]
_Row = tuple[datetime, *tuple[int | None, ...]]


@dataclass(frozen=True, slots=True)
class GroupHistory:
    """Slices at each moment of the grid; None is unknown."""

    ready: Values
    in_flight: Values
    demand: Values
    maximum: Values

    @property
    def known_steps(self) -> int:
        return sum(value is not None for value in self.ready)

    @property
    def full_steps(self) -> int:
        """At how many moments it held, or was getting, all that it may."""
        rows = zip(self.ready, self.in_flight, self.maximum, strict=True)
        return sum(
            ready is not None and coming is not None and top is not None and ready + coming >= top > 0
            for ready, coming, top in rows
        )


def stands_seconds() -> float:
    """For how long what a cycle saw counts as known when no other one comes."""
    return max(60.0, 2 * settings.IRIS_CYCLE_SECONDS)


def read_group_history(group: Group, grid: Grid) -> GroupHistory:
    """Two queries where the group's status was read with it: the latest sample of each step, and the one before."""
    start, end = _at(grid.start), _at(grid.end + grid.step_seconds)
    of_group = GroupSample.objects.filter(group=group)
    within = of_group.filter(at__gte=start, at__lt=end).order_by()
    steps = within.annotate(step=StepNumber(F("at"), grid.step_seconds)).values("step").annotate(last=Max("at"))
    found = list(of_group.filter(at__in=steps.values("last")).order_by("at").values_list("at", *_FIELDS))
    found[:0] = of_group.filter(at__lt=start).order_by("-at").values_list("at", *_FIELDS)[:1]
    return GroupHistory(*_stand(grid, found, _known_until(group, grid)))


def _known_until(group: Group, grid: Grid) -> int:
    """The number of the step up to which what was seen stands: none came after the last cycle's."""
    status = getattr(group, "status", None)
    if status is None:
        return 0
    return max(0, min(grid.count, _step(grid, status.at.timestamp() + stands_seconds()) + 1))


def _stand(grid: Grid, found: Sequence[_Row], known_until: int) -> list[Values]:
    """Each sample from its step to that of the next one, the last one up to `known_until`."""
    columns: list[list[float | None]] = [[None] * grid.count for _ in _FIELDS]
    places = [max(0, _step(grid, at.timestamp())) for at, *_ in found]
    for (first, until), (_, *values) in zip(pairwise([*places, known_until]), found, strict=True):
        for column, value in zip(columns, values, strict=True):
            column[first:until] = [None if value is None else float(value)] * max(0, until - first)
    return [tuple(column) for column in columns]


def _step(grid: Grid, seconds: float) -> int:
    return math.floor((seconds - grid.start) / grid.step_seconds + 1e-6)


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
