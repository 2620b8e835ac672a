"""What markers and notices have in common: somebody is on it, and nobody takes that over unseen."""

from scaling import clock
from scaling.history import Actor
from scaling.models import Marker, Notice
from scaling.operations.acts import ActKind, when
from scaling.operations.changes import acts_on, called
from scaling.operations.errors import StaleVersion

Acknowledged = Marker | Notice


def check_unseen(row: Acknowledged, actor: Actor, version: int | None) -> None:
    """Raise StaleVersion where somebody else holds it and the caller, without a version, has not seen that."""
    if version is None and held_by_another(row, actor):
        raise StaleVersion(f"{called(row)} is acknowledged already, {who(row)}", row)


def held_by_another(row: Acknowledged, actor: Actor) -> bool:
    """Whether somebody else is on it; an acknowledgement that has run out counts as none.

    A person and a token may have had one name from before new names were kept apart: the history tells which it was.
    """
    until = row.acknowledged_until
    holds = row.acknowledged_at is not None and (until is None or clock.now() < until)
    return holds and (row.acknowledged_by != actor.name or _kind_of_holder(row) not in (None, actor.kind))


def _kind_of_holder(row: Acknowledged) -> str | None:
    """None where the history no longer holds the act."""
    acts = acts_on(row).filter(kind=ActKind.ACKNOWLEDGE).order_by("-id")
    return acts.values_list("actor_kind", flat=True).first()


def who(row: Acknowledged) -> str:
    """By whom, since when and why."""
    return f"by {row.acknowledged_by} at {when(row.acknowledged_at)}: {row.acknowledged_note}"
