"""The moments of a chart, and the step of such a grid that a stored moment falls into."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import FloatField, Func


@dataclass(frozen=True, slots=True)
class Grid:
    """`count` moments from `start`, `step_seconds` apart; all in Unix seconds."""

    start: float
    step_seconds: float
    count: int

    @classmethod
    def until(cls, now: float, span_seconds: float, step_seconds: float) -> "Grid":
        """The grid of the latest `span_seconds`; whole steps, so that it does not move under a reader."""
        last = math.floor(now / step_seconds)
        count = math.ceil(span_seconds / step_seconds)
        return cls((last - count + 1) * step_seconds, step_seconds, count)

    @property
    def moments(self) -> list[float]:
        return [self.start + number * self.step_seconds for number in range(self.count)]

    @property
    def end(self) -> float:
        return self.start + (self.count - 1) * self.step_seconds

    def place(self, points: Iterable[tuple[float, float | None]], stands: int = 1) -> list[float | None]:
        """The points on the grid, each at the moment before or at it, oldest first; those outside are left out.

        A point stands for `stands` moments, or until the next one.
        """
        values: list[float | None] = [None] * self.count
        for at, value in points:
            index = math.floor((at - self.start) / self.step_seconds + 1e-6)
            known = value if value is not None and math.isfinite(value) else None
            for place in range(max(0, index), min(self.count, index + stands)):
                values[place] = known
        return values


class StepNumber(Func):
    """The number of the step that a moment falls into, since 1970."""

    output_field = FloatField()
    arity = 1

    def __init__(self, moment: Any, step_seconds: float) -> None:
        super().__init__(moment)
        self.extra["step"] = f"{float(step_seconds)!r}"

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = "floor((julianday(%(expressions)s) - 2440587.5) * 86400.0 / %(step)s + 0.0001)"
        return self.as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = "floor(extract(epoch from %(expressions)s) / %(step)s)"
        return self.as_sql(compiler, connection, template=template, **more)
