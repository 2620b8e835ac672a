"""The next cycle's plan, made twice: of the cluster as it is, and of the cluster as an act would leave it."""

from scaling.models import Installation
from scaling.previews.base import base
from scaling.previews.changes import Change
from scaling.previews.effects import Preview, compare


def preview(change: Change) -> Preview:
    """What `change` does to the next cycle.

    The answer is that of the next cycle as far as nothing happens until then: see `base` for what it is made of.
    """
    if not Installation.objects.exists():
        return Preview(stopped="this installation is not set up yet")
    found = base()
    return compare(found.plan, found.planned(change(found.stored.state)))
