"""Acts on a deployment: pause with a direction, scale now, its settings, waking it. Its scaler carries them out."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from scaling import clock
from scaling.history import Actor, record
from scaling.models import CrashedReplica, Deployment, PauseDirection, Scaler
from scaling.operations import announce
from scaling.operations.acts import ActKind, read_act, when
from scaling.operations.changes import Diff, change, change_order, check_version, find
from scaling.operations.deployment_fields import MAX_REPLICAS, in_force, read_edit
from scaling.operations.errors import OperationRefused
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Choice, Whole
from scaling.operations.taking_back import cause_of
from scaling.replicas.memory import ZeroBy

# An order that its scaler could not carry out within this time is given up, and said to be.
ORDER_LASTS = timedelta(minutes=15)

ORDER_FIELDS = FieldTable(
    [
        Field("direction", Choice(tuple(PauseDirection.values)), "What to stop: both, up (adding) or down (removing)."),
        Field("replicas", Whole(0, MAX_REPLICAS), "How many to have now; 0 holds it at zero until it is woken."),
    ]
)
ORDER_OVER = {"wanted_replicas": None, "wanted_until": None, "wanted_by": "", "wanted_action_id": None}
_PAUSE_OVER = {"pause_direction": "", "pause_since": None, "pause_until": None, "pause_by": "", "pause_reason": ""}


@transaction.atomic
def pause_deployment(
    actor: Actor,
    deployment_id: str,
    direction: str = "both",
    until: datetime | None = None,
    reason: str = "",
    version: int | None = None,
) -> Deployment:
    """Stop every act of its scaler (`both`), every add (`up`), or every removal of a healthy replica (`down`).

    It ends at `until` (None: when it is resumed). Pausing a paused one is accepted where it changes something.
    """
    row = _find(deployment_id, version)
    given = read_act(reason=reason, until=until)
    direction = ORDER_FIELDS.only(["direction"]).read({"direction": direction})["direction"]
    if is_paused(row, clock.now()) and (row.pause_direction, row.pause_until) == (direction, given["until"]):
        raise OperationRefused(
            f"deployment {row} is paused already ({direction}), by {row.pause_by} until {when(row.pause_until)}"
        )
    lapsed = not is_paused(row, clock.now())
    since = clock.now() if lapsed else row.pause_since
    order = {"pause_direction": direction, "pause_since": since, "pause_until": given["until"]}
    order |= {"pause_by": actor.name, "pause_reason": given["reason"]}
    over, told = _PAUSE_OVER if lapsed else {}, ["pause_direction", "pause_until"]
    changed = change_order(row, order, f"deployment {row}", over=over, told=told)
    return _recorded(actor, ActKind.PAUSE, row, changed, given["reason"])


@transaction.atomic
def resume_deployment(actor: Actor, deployment_id: str, reason: str = "", version: int | None = None) -> Deployment:
    """End the pause before its time. One that is held at zero stays there: that is `wake_deployment`'s to end."""
    row = _find(deployment_id, version)
    reason = read_act(reason=reason)["reason"]
    if not is_paused(row, clock.now()):
        raise OperationRefused(f"deployment {row} is not paused")
    return _order(actor, ActKind.RESUME, row, _PAUSE_OVER, reason)


@transaction.atomic
def scale_deployment(
    actor: Actor, deployment_id: str, replicas: int, reason: str = "", version: int | None = None
) -> Deployment:
    """Have its scaler bring it to `replicas` now, past cooldown, window and pause; then the load decides again.

    0 holds it at zero until it is woken. Otherwise between the minimum and the maximum in force.
    """
    row = _find(deployment_id, version)
    reason = read_act(reason=reason)["reason"]
    wanted = ORDER_FIELDS.only(["replicas"]).read({"replicas": replicas})["replicas"]
    low, high = in_force(row, "min_replicas"), in_force(row, "max_replicas")
    if wanted and not min(low, high) <= wanted <= high:
        raise OperationRefused(
            f"expected between the minimum of {min(low, high)} and the maximum of {high}, or 0 to hold it at zero, "
            f"got {wanted}",
            "replicas",
        )
    return _want(actor, ActKind.SCALE, row, wanted, reason, ZeroBy.OPERATOR if wanted == 0 else None)


@transaction.atomic
def wake_deployment(actor: Actor, deployment_id: str, reason: str = "", version: int | None = None) -> Deployment:
    """Bring one that is at zero, or is held there, back: to its minimum, at least 1."""
    row = _find(deployment_id, version)
    reason = read_act(reason=reason)["reason"]
    scaler = _scaler(row)
    at_zero = not scaler.latest.get("healthy") and not scaler.latest.get("warming")
    if not scaler.zero_by and not at_zero:
        raise OperationRefused(f"deployment {row} is not at zero: it has {_replicas(scaler)}")
    high = in_force(row, "max_replicas")
    if high == 0:
        raise OperationRefused(f"deployment {row} has a maximum of 0: raise that first")
    return _want(actor, ActKind.WAKE, row, max(1, min(in_force(row, "min_replicas"), high)), reason, None)


@transaction.atomic
def edit_deployment(
    actor: Actor, deployment_id: str, version: int, changes: Mapping[str, Any], reason: str = ""
) -> Deployment:
    """Set EDIT_FIELDS in place of the Gateway's values; null gives the Gateway's its place back."""
    row = _find(deployment_id, version)
    reason = read_act(reason=reason)["reason"]
    read = read_edit(changes, row)
    before = {name: row.overrides.get(name) for name in read}
    after = {name: value for name, value in read.items() if value != before[name]}
    if not after:
        raise OperationRefused(f"nothing to change: {row} has these values already")
    kept = {name: value for name, value in {**row.overrides, **after}.items() if value is not None}
    change(row, {"overrides": kept}, f"deployment {row}")
    shown = {name: before[name] for name in after}
    target, cause = f"deployment {row}", cause_of(ActKind.SET_TARGETS)
    record(ActKind.SET_TARGETS, actor=actor, target=target, reason=reason, before=shown, after=after, cause=cause)
    announce.deployment(row)
    return row


@transaction.atomic
def forget_absent_deployments(actor: Actor, reason: str = "") -> int:
    """Remove what the Gateway no longer lists although the syncer doubts it; returns how many.

    What operators set and what the scalers remembered goes with them, so that one which is listed again is taken up as
    new. Their history stays.
    """
    reason = read_act(reason=reason)["reason"]
    absent = Deployment.objects.filter(gone_at=None, absent_since__isnull=False)
    rows = list(absent.select_for_update(no_key=True).order_by("pk"))
    if not rows:
        raise OperationRefused("the Gateway lists every deployment that is known")
    now = clock.now()
    ids = [row.pk for row in rows]
    Deployment.objects.filter(pk__in=ids).update(
        gone_at=now, version=F("version") + 1, overrides={}, **_PAUSE_OVER, **ORDER_OVER
    )
    Scaler.objects.filter(deployment__in=ids).update(
        memory={}, memory_version=F("memory_version") + 1, zero_by="", replicas=[], latest={}, pending=None
    )
    CrashedReplica.objects.filter(deployment__in=ids).delete()
    for row in rows:
        before = {"listed": True, **row.overrides}
        record(ActKind.FORGET, actor=actor, target=f"deployment {row}", reason=reason, before=before, at=now)
        announce.deployment(row)
    return len(rows)


def is_paused(row: Deployment, now: datetime) -> bool:
    """Whether an operator's pause of any direction holds; at its `until` it is over."""
    return bool(row.pause_direction) and (row.pause_until is None or now < row.pause_until)


def _find(deployment_id: str, version: int | None) -> Deployment:
    row = find(Deployment, "deployment_id", deployment_id)
    if row.gone_at is not None:
        raise OperationRefused(f"deployment {row} is gone: the Gateway no longer lists it")
    check_version(row, version)
    return row


def _order(actor: Actor, kind: ActKind, row: Deployment, order: Mapping[str, Any], reason: str) -> Deployment:
    return _recorded(actor, kind, row, change(row, order, f"deployment {row}"), reason)


def _recorded(actor: Actor, kind: ActKind, row: Deployment, changed: Diff, reason: str) -> Deployment:
    before, after = changed
    target = f"deployment {row}"
    cause = cause_of(kind, target=target)
    record(kind, actor=actor, target=target, reason=reason, before=before, after=after, cause=cause)
    announce.deployment(row)
    return row


def _want(actor: Actor, kind: ActKind, row: Deployment, wanted: int, reason: str, zero_by: ZeroBy | None) -> Deployment:
    """Write the order down for the scaler's next tick, and who holds the deployment at zero."""
    scaler = _scaler(row)
    before = {"replicas": scaler.latest.get("healthy"), "held at zero by": scaler.zero_by or None}
    after = {"replicas": wanted, "held at zero by": zero_by.value if zero_by else None}
    target, cause = f"deployment {row}", cause_of(kind)
    action = record(kind, actor=actor, target=target, reason=reason, before=before, after=after, cause=cause)
    # A hold at zero is no order that may run out: what turns healthy later goes as well.
    until = None if zero_by else clock.now() + ORDER_LASTS
    order = {"wanted_replicas": wanted, "wanted_until": until, "wanted_by": actor.name}
    change(row, {**order, "wanted_action_id": action.pk}, f"deployment {row}")
    # The version moves too: a tick that has not seen this must not act on what it saw.
    Scaler.objects.filter(pk=scaler.pk).update(zero_by=zero_by or "", memory_version=F("memory_version") + 1)
    announce.deployment(row)
    return row


def _scaler(row: Deployment) -> Scaler:
    return Scaler.objects.get_or_create(deployment=row)[0]


def _replicas(scaler: Scaler) -> str:
    return f"{scaler.latest.get('healthy') or 0} healthy and {scaler.latest.get('warming') or 0} coming replicas"
