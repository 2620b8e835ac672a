"""Every periodic loop: its name, how often it is due, and the function that is its body."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import cast

from django.conf import settings

LoopBody = Callable[[datetime], None]

# A round that has not finished this long after it began was killed with its worker: the queue's own time-out ends
# every task before that.
LOST_AFTER_SECONDS: float = float(settings.Q_CLUSTER["timeout"]) + 5


@dataclass(frozen=True, slots=True)
class LoopSpec:
    """A loop. `body` is `module:function`, taking `now`; `task` is what the queue runs for each round.

    Where `adjustable`, the period stored in the loop's row counts (an imported cluster file sets it); `period_seconds`
    is then the first one.
    """

    name: str
    period_seconds: float
    body: str
    only_in_demonstration: bool = False
    lost_after_seconds: float = LOST_AFTER_SECONDS
    adjustable: bool = False
    task: str = "scaling.loops.tasks.run_loop"

    def load(self) -> LoopBody:
        """The body itself, imported when first needed: the ticker never loads what only a worker runs."""
        module, _, function = self.body.partition(":")
        return cast(LoopBody, getattr(import_module(module), function))


LOOPS: dict[str, LoopSpec] = {
    spec.name: spec
    for spec in (
        LoopSpec(
            "autoscaler",
            settings.IRIS_CYCLE_SECONDS,
            "scaling.loops.autoscaler:run",
            adjustable=not settings.IRIS_CYCLE_SECONDS_GIVEN,
        ),
        LoopSpec("scheduler", 1, "scaling.loops.scheduler:run"),
        LoopSpec("workers", 5, "scaling.loops.workers:run"),
        LoopSpec("demonstration", 1, "scaling.demonstration.load:run", only_in_demonstration=True),
        LoopSpec("retention", 3600, "scaling.loops.retention:run"),
        LoopSpec("heartbeat", 2, "scaling.loops.heartbeat:run", lost_after_seconds=3),
    )
}
