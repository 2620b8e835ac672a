"""A group's slices over a range of time, as its cycles saw them.

A cycle stores a sample only where something differs from the cycle before, so a sample stands until the next one as
long as cycles came: where none did, nothing is known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from django.conf import settings
from django.db.models import F, Max

from scaling.grid import Grid, StepNumber
from scaling.models import Cycle, Group, GroupSample

_FIELDS = ("ready", "in_flight", "demand", "max_slices")
Values = Sequence[float | None]


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


def shortest_step_seconds() -> float:
    """Cycles that are further apart than the points of a chart would leave holes in it."""
    return math.ceil(settings.IRIS_CYCLE_SECONDS / 60) * 60.0


def read_group_history(group: Group, grid: Grid) -> GroupHistory:
    """Three queries: the latest sample of each step, the one before the first step, and the steps with a cycle."""
    start, end = _at(grid.start), _at(grid.end + grid.step_seconds)
    of_group = GroupSample.objects.filter(group=group)
    within = of_group.filter(at__gte=start, at__lt=end).order_by()
    steps = within.annotate(step=StepNumber(F("at"), grid.step_seconds)).values("step").annotate(last=Max("at"))
    found = list(of_group.filter(at__in=steps.values("last")).order_by("at").values_list("at", *_FIELDS))
    found[:0] = of_group.filter(at__lt=start).order_by("-at").values_list("at", *_FIELDS)[:1]
    return GroupHistory(*_stand(grid, found, _known(grid)))


def _stand(grid: Grid, found: Sequence[tuple[datetime, *tuple[int, ...]]], known: Sequence[bool]) -> list[Values]:
    """Each sample from its step to that of the next one, where cycles came."""
    columns: list[list[float | None]] = [[None] * grid.count for _ in _FIELDS]
    places = [max(0, math.floor((at.timestamp() - grid.start) / grid.step_seconds + 1e-6)) for at, *_ in found]
    for (at_step, until), (_, *values) in zip(pairwise([*places, grid.count]), found, strict=True):
        for step in range(at_step, until):
            if known[step]:
                for column, value in zip(columns, values, strict=True):
                    column[step] = float(value)
    return [tuple(column) for column in columns]


def _known(grid: Grid) -> list[bool]:
    """Whether a whole cycle began in each step, or so shortly before that its findings still stood."""
    stands = math.ceil(2 * settings.IRIS_CYCLE_SECONDS / grid.step_seconds)
    began = Cycle.objects.filter(status=Cycle.Status.OK, started_at__gte=_at(grid.start - stands * grid.step_seconds))
    steps = began.order_by().annotate(step=StepNumber(F("started_at"), grid.step_seconds)).values_list("step")
    known = [False] * grid.count
    for (number,) in steps.distinct():
        first = round(number - grid.start / grid.step_seconds)
        for step in range(max(0, first), min(grid.count, first + stands)):
            known[step] = True
    return known


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
