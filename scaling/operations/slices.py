"""Acts on one slice: draining it and taking that back."""

from typing import Any

from django.db import transaction

from scaling import clock
from scaling.history import Actor, record
from scaling.models import Slice
from scaling.operations import announce
from scaling.operations.acts import ActKind, read_act, when
from scaling.operations.changes import difference, find
from scaling.operations.errors import OperationRefused
from scaling.operations.taking_back import cause_of

# A slice beyond these is being released or gone: there is nothing left to drain, and nothing to take back.
DRAINABLE = (Slice.State.REQUESTING, Slice.State.BOOTING, Slice.State.READY)


@transaction.atomic
def drain_slice(actor: Actor, slice_name: str, reason: str = "") -> Slice:
    """No new tasks for the slice; it goes when idle. It counts for its group's max, not for its target."""
    reason = read_act(reason=reason)["reason"]
    row = _present(slice_name)
    if row.drain_since:
        since = f"since {when(row.drain_since)} by {row.drain_by}"
        raise OperationRefused(f"slice {slice_name} is draining already, {since}")
    order = {"drain_since": clock.now(), "drain_by": actor.name, "drain_reason": reason}
    return _order(actor, ActKind.DRAIN, row, order, reason)


@transaction.atomic
def undrain_slice(actor: Actor, slice_name: str, reason: str = "") -> Slice:
    """The slice serves again; possible until it is being released."""
    reason = read_act(reason=reason)["reason"]
    row = _present(slice_name)
    if row.drain_since is None:
        raise OperationRefused(f"slice {slice_name} is not draining")
    return _order(actor, ActKind.UNDRAIN, row, {"drain_since": None, "drain_by": "", "drain_reason": ""}, reason)


def _present(name: str) -> Slice:
    row = find(Slice, "name", name)
    if row.state not in DRAINABLE:
        raise OperationRefused(f"slice {name} is {row.state}: it is being released or gone")
    return row


def _order(actor: Actor, kind: ActKind, row: Slice, order: dict[str, Any], reason: str) -> Slice:
    before, after = difference(row, order)
    updated = Slice.objects.filter(pk=row.pk, state=row.state, drain_since=row.drain_since).update(**order)
    if updated != 1:
        raise OperationRefused(f"slice {row.name} changed at the same moment; look again")
    for name, value in order.items():
        setattr(row, name, value)
    group = row.group.name if row.group else ""
    cause = cause_of(kind, group, row.name)
    record(kind, actor=actor, group=group, slice=row.name, reason=reason, before=before, after=after, cause=cause)
    announce.slice_(row)
    return row
