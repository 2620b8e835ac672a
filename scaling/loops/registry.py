"""Every periodic loop: its name, how often it is due, and the function that is its body."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import cast

from django.conf import settings

from scaling.lyc_settings import TICK_TIMEOUT_SECONDS, LycSettings

LoopBody = Callable[[datetime], None]
InstanceBody = Callable[[datetime, str], None]

# In a row's name, what parts the loop from the instance that it is of.
OF_INSTANCE = "@"

LYC: LycSettings = settings.LYC

# A round that has not finished this long after it began was killed with its worker: the queue's own time-out ends
# every task before that.
LOST_AFTER_SECONDS: float = float(settings.Q_CLUSTER["timeout"]) + 5

# An instance's rounds run in any worker on the queue, so a worker that is killed may take those of a living instance
# with it. Its scalers must tick again before its leases are over, and its manager must be there when another's are. A
# round that was only slow does no harm beside its successor: each change is made by one of them.
INSTANCE_LOST_AFTER_SECONDS = min(TICK_TIMEOUT_SECONDS + 2, LYC.scaler_ttl_seconds / 2)


@dataclass(frozen=True, slots=True)
class LoopSpec:
    """A loop. `body` is `module:function`, taking `now`; `task` is what the queue runs for each round.

    Where `adjustable`, the period stored in the loop's row counts (an imported cluster file sets it); `period_seconds`
    is then the first one. A loop `per_instance` has a row for each instance of the control plane, and its body takes
    that instance's name too. `when` tells whether this configuration runs the loop at all.
    """

    name: str
    period_seconds: float
    body: str
    only_in_demonstration: bool = False
    lost_after_seconds: float = LOST_AFTER_SECONDS
    adjustable: bool = False
    per_instance: bool = False
    when: bool = True
    task: str = "scaling.loops.tasks.run_loop"

    def load(self, instance: str = "") -> LoopBody:
        """The body itself, imported when first needed: the ticker never loads what only a worker runs."""
        module, _, function = self.body.partition(":")
        body = getattr(import_module(module), function)
        if not self.per_instance:
            return cast(LoopBody, body)
        of_instance = cast(InstanceBody, body)
        return lambda now: of_instance(now, instance)

    def row_name(self, instance: str) -> str:
        """The name of the loop's row, of this instance where each has its own."""
        return f"{self.name}{OF_INSTANCE}{instance}" if self.per_instance else self.name


def loop_of(row_name: str) -> tuple[LoopSpec, str]:
    """(the loop, the instance or "") of a row; KeyError for a name that is no loop's."""
    name, _, instance = row_name.partition(OF_INSTANCE)
    return LOOPS[name], instance


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
        LoopSpec("syncer", LYC.scrape_interval_seconds, "scaling.loops.replicas.syncer:run", when=LYC.enabled),
        LoopSpec(
            "manager",
            LYC.reconcile_interval_seconds,
            "scaling.loops.replicas.manager:run",
            lost_after_seconds=INSTANCE_LOST_AFTER_SECONDS,
            per_instance=True,
            when=LYC.enabled,
        ),
        LoopSpec(
            "scaler",
            LYC.heartbeat_interval_seconds,
            "scaling.loops.replicas.scaler:run",
            lost_after_seconds=INSTANCE_LOST_AFTER_SECONDS,
            per_instance=True,
            when=LYC.enabled,
        ),
        LoopSpec("lifecycle", LYC.lifecycle_interval_seconds, "scaling.loops.replicas.lifecycle:run", when=LYC.enabled),
        LoopSpec("seal", 60, "scaling.audit.sealing:run"),
        LoopSpec("retention", 3600, "scaling.loops.retention:run"),
        LoopSpec("heartbeat", 2, "scaling.loops.heartbeat:run", lost_after_seconds=3),
    )
}
