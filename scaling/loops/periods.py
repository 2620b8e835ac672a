"""Changing how often a loop is due, where its period may be set."""

from datetime import datetime

from scaling.loops.registry import LOOPS
from scaling.models import Loop


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
