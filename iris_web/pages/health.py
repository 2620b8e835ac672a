"""How the loops are: when each last ran, how late, and what went wrong."""

from dataclasses import dataclass
from datetime import datetime

from iris_web import facts
from scaling.models import Cycle, Loop

# A loop is late after this many periods without an end, and silent after so many seconds more.
LATE_AFTER_PERIODS = 3
LATE_AFTER_SECONDS = 5.0
SILENT_AFTER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LoopHealth:
    """One loop with its verdict; `code` is a row of the HEALTH looks."""

    loop: Loop
    code: str
    error: str
    late_at_seconds: float
    cycle: Cycle | None = None


def loops(now: datetime) -> list[LoopHealth]:
    """Every loop, what is wrong first in none but its name: the order stays while one reads. Two queries."""
    cycle = facts.last_cycle()
    return [_judge(loop, cycle if loop.name == "autoscaler" else None, now) for loop in facts.loops()]


def _judge(loop: Loop, cycle: Cycle | None, now: datetime) -> LoopHealth:
    late_after = loop.period_seconds * LATE_AFTER_PERIODS + LATE_AFTER_SECONDS
    if loop.last_finished_at is None:
        return LoopHealth(loop, "never", loop.last_error, late_after, cycle)
    quiet = (now - loop.last_finished_at).total_seconds()
    if quiet > late_after + SILENT_AFTER_SECONDS:
        code = "silent"
    elif loop.last_error:
        code = "failed"
    elif cycle is not None and cycle.status == Cycle.Status.ABORTED:
        code = "aborted"
    else:
        code = "late" if quiet > late_after else "ok"
    reason = loop.last_error or (cycle.reason if cycle is not None and code == "aborted" else "")
    return LoopHealth(loop, code, reason, late_after, cycle)
