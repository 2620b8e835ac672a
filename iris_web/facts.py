"""What nearly every page asks: each fact has one function here, and is read once for a page that asks once."""

from scaling.models import Cycle, Installation, Loop, Platform
from scaling.once import fact


@fact
def installation() -> Installation | None:
    return Installation.objects.first()


@fact
def platforms() -> list[Platform]:
    """By name."""
    return list(Platform.objects.order_by("name"))


@fact
def last_cycle() -> Cycle | None:
    return Cycle.objects.order_by("-id").first()


@fact
def loops() -> list[Loop]:
    """By name."""
    return list(Loop.objects.order_by("name"))


@fact
def stored_period_seconds() -> float | None:
    """The period of the autoscaler's loop, where that is known; out of `loops` where they have been asked for."""
    if loops.known:
        return next((loop.period_seconds for loop in loops() if loop.name == "autoscaler"), None)
    return Loop.objects.filter(name="autoscaler").values_list("period_seconds", flat=True).first()
