"""Changing how often a loop is due, where its period may be set."""

from datetime import datetime

from scaling.loops import rounds
from scaling.loops.registry import LOOPS
from scaling.models import Loop


def period_seconds(name: str) -> float:
    """How often the loop is due now."""
    spec = LOOPS[name]
    row = Loop.objects.filter(name=name).first()
    return rounds.period_of(row, spec) if row else spec.period_seconds


def set_period(name: str, seconds: float, now: datetime) -> bool:
    """Store the period of an adjustable loop; False, and nothing changed, where configuration fixes it.

    It holds from the loop's next deadline on.
    """
    if not LOOPS[name].adjustable:
        return False
    Loop.objects.update_or_create(
        name=name, defaults={"period_seconds": seconds}, create_defaults={"period_seconds": seconds, "next_due_at": now}
    )
    return True
