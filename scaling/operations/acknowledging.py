"""What markers and notices have in common: somebody is on it, and nobody takes that over unseen."""

from scaling import clock
from scaling.history import Actor
from scaling.models import Marker, Notice
from scaling.operations.acts import when
from scaling.operations.errors import StaleVersion

Acknowledged = Marker | Notice


def check_unseen(row: Acknowledged, actor: Actor, version: int | None) -> None:
    """Raise StaleVersion where somebody else holds it and the caller, without a version, has not seen that."""
    if version is None and held_by_another(row, actor.name):
        raise StaleVersion(f"{row._meta.verbose_name} {row.pk} is acknowledged already, {who(row)}", row)


def held_by_another(row: Acknowledged, name: str) -> bool:
    """Whether somebody else is on it; an acknowledgement that has run out counts as none."""
    until = row.acknowledged_until
    holds = row.acknowledged_at is not None and (until is None or clock.now() < until)
    return holds and row.acknowledged_by != name


def who(row: Acknowledged) -> str:
    """By whom, since when and why."""
    return f"by {row.acknowledged_by} at {when(row.acknowledged_at)}: {row.acknowledged_note}"
