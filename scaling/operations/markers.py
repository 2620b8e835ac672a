"""Acts on markers: acknowledge one, clear it and retry, hold it longer."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from scaling import clock
from scaling.history import Actor, record
from scaling.marker_checks import judge_again
from scaling.models import Action, Marker
from scaling.operations import announce
from scaling.operations.acknowledging import check_unseen
from scaling.operations.acts import ACT_FIELDS, ActKind, read_act, when
from scaling.operations.changes import as_json, change, check_version, find, write
from scaling.operations.errors import OperationRefused
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Moment
from scaling.operations.taking_back import cause_of

_HOLD = FieldTable([ACT_FIELDS["reason"], Field("until", Moment(ahead=True, nullable=False), required=True)])


@transaction.atomic
def acknowledge_marker(
    actor: Actor, marker_id: int, note: str, until: datetime | None = None, version: int | None = None
) -> Marker:
    """Someone knows: a note is required, `until` says when it wants looking at again. Changes nothing for the planner.

    Acknowledging again replaces the note and the name; the history keeps the one before. Over somebody else's, while
    it holds, only with the version that shows it was seen: raises StaleVersion without.
    """
    marker = _open(marker_id, version)
    check_unseen(marker, actor, version)
    given = read_act(note=note, until=until)
    values = {
        "acknowledged_by": actor.name,
        "acknowledged_note": given["note"],
        "acknowledged_until": given["until"],
    }
    if all(getattr(marker, name) == value for name, value in values.items()) and marker.acknowledged_at:
        raise OperationRefused(f"marker {marker_id} is acknowledged with this note already, by {actor.name}", "note")
    before, after = change(marker, values | {"acknowledged_at": clock.now()}, f"marker {marker_id}")
    _record(actor, ActKind.ACKNOWLEDGE, marker, given["note"], before, after)
    announce.marker(marker)
    return marker


@transaction.atomic
def unacknowledge_marker(actor: Actor, marker_id: int, reason: str = "", version: int | None = None) -> Marker:
    """Take the acknowledgement back: nobody is on it any more."""
    marker = _open(marker_id, version)
    reason = read_act(reason=reason)["reason"]
    if marker.acknowledged_at is None:
        raise OperationRefused(f"marker {marker_id} is not acknowledged")
    values = {"acknowledged_at": None, "acknowledged_by": "", "acknowledged_note": "", "acknowledged_until": None}
    before, after = change(marker, values, f"marker {marker_id}")
    cause = cause_of(ActKind.UNACKNOWLEDGE, marker.group.name, target=f"marker {marker.pk}")
    _record(actor, ActKind.UNACKNOWLEDGE, marker, reason, before, after, cause)
    announce.marker(marker)
    return marker


@transaction.atomic
def clear_marker(actor: Actor, marker_id: int, reason: str = "", version: int | None = None) -> Marker:
    """Forget the failure: the group may buy at full speed from the next cycle on."""
    marker = _open(marker_id, version)
    reason = read_act(reason=reason)["reason"]
    return close(actor, marker, reason or "cleared by an operator")


@transaction.atomic
def hold_marker(
    actor: Actor, marker_id: int, until: datetime | None, reason: str = "", version: int | None = None
) -> Marker:
    """Keep the group blocked longer than the platform's failure alone would: `until` must lie after the present end."""
    marker = _open(marker_id, version)
    given = _HOLD.read({"reason": reason, "until": until})
    reason, end = given["reason"], given["until"]
    if marker.until is None:
        raise OperationRefused(f"marker {marker_id} is permanent: it has no end to move", "until")
    if end <= marker.until:
        raise OperationRefused(f"expected a time after the present end, {when(marker.until)}", "until")
    before, after = change(marker, {"until": end}, f"marker {marker_id}")
    judge_again(marker.group)
    _record(actor, ActKind.HOLD, marker, reason, before, after)
    announce.marker(marker)
    return marker


def close(actor: Actor, marker: Marker, reason: str, cause: Action | None = None) -> Marker:
    """Close an open marker in the caller's transaction and record it."""
    values = {"closed_at": clock.now(), "closed_by": actor.name, "closed_reason": reason}
    write(marker, values)
    judge_again(marker.group)
    before = {"kind": marker.kind, "until": as_json(marker.until)}
    _record(actor, ActKind.MARKER_CLEARED, marker, reason, before, None, cause)
    announce.marker(marker)
    return marker


def _open(marker_id: int, version: int | None) -> Marker:
    marker = find(Marker, "pk", marker_id)
    check_version(marker, version)
    if marker.closed_at is not None:
        by = f" by {marker.closed_by}" if marker.closed_by else ""
        raise OperationRefused(f"marker {marker_id} was closed at {when(marker.closed_at)}{by}")
    return marker


def _record(
    actor: Actor,
    kind: ActKind,
    marker: Marker,
    reason: str,
    before: Mapping[str, object],
    after: Mapping[str, object] | None,
    cause: Action | int | None = None,
) -> None:
    record(
        kind,
        actor=actor,
        group=marker.group.name,
        target=f"marker {marker.pk}",
        reason=reason,
        before=before,
        after=after,
        cause=cause,
    )
