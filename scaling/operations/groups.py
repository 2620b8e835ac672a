"""Acts on a group: its limits, draining it, pausing it. Each undoes with its counterpart."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from scaling import clock
from scaling.history import Actor, record
from scaling.models import Group, Marker, QuotaPool
from scaling.operations import announce
from scaling.operations.acts import ActKind, read_act, when
from scaling.operations.changes import Diff, change, change_order, check_version, find_group, find_pool, missing
from scaling.operations.errors import NotFound, OperationRefused
from scaling.operations.group_fields import read_group
from scaling.operations.markers import close
from scaling.operations.taking_back import cause_of
from scaling.order_checks import judge_orders

_PAUSE_OVER = {"pause_since": None, "pause_by": "", "pause_reason": "", "pause_until": None}


@transaction.atomic
def set_group_limits(actor: Actor, name: str, version: int, changes: Mapping[str, Any], reason: str = "") -> Group:
    """Change fields of `LIMIT_FIELDS`; `version` is the one the caller saw.

    An edit is what a permanent marker waits for ("until the group is edited"), so the group's are closed.
    """
    group = find_group(name)
    check_version(group, version)
    reason = read_act(reason=reason)["reason"]
    values = read_group(changes, group)
    # Markers before the pool: the order of locks.
    permanent = group.markers.filter(closed_at=None, kind=Marker.Kind.PERMANENT).order_by("pk")
    waiting = list(permanent.select_for_update(no_key=True))
    before, after = change(group, _with_pool(values), f"group {name}")
    cause = cause_of(ActKind.SET_LIMITS)
    action = record(ActKind.SET_LIMITS, actor=actor, group=name, reason=reason, before=before, after=after, cause=cause)
    for marker in waiting:
        close(actor, marker, "the group was edited", cause=action)
    announce.group(group)
    return group


def read_limits(changes: Mapping[str, Any], group: Group) -> dict[str, Any]:
    """The changes as `set_group_limits` would take them, nothing written; raises OperationRefused as it does."""
    read = read_group(changes, group)
    name = read.get("quota_pool")
    if name and not QuotaPool.objects.filter(name=name).exists():
        raise _no_pool(missing(QuotaPool, "name", name))
    return read


def _no_pool(absent: NotFound) -> OperationRefused:
    return OperationRefused(f"expected the name of a quota pool; {absent}", "quota_pool")


def _with_pool(values: dict[str, Any]) -> dict[str, Any]:
    """The values with the pool's row in place of its name."""
    if "quota_pool" not in values:
        return values
    name = values["quota_pool"]
    try:
        return values | {"quota_pool": find_pool(name) if name else None}
    except NotFound as absent:
        raise _no_pool(absent) from None


@transaction.atomic
def drain_group(
    actor: Actor, name: str, reason: str = "", deadline: datetime | None = None, version: int | None = None
) -> Group:
    """No new demand for the group; its slices go as they fall idle, and at `deadline` whatever is still busy.

    Draining a group that drains already is accepted only where it changes the deadline. The next cycle cancels the
    requests that were not sent.
    """
    group = find_group(name)
    check_version(group, version)
    given = read_act(reason=reason, deadline=deadline)
    if group.drain_since and group.drain_deadline == given["deadline"]:
        raise OperationRefused(f"group {name} is draining already, since {when(group.drain_since)} by {group.drain_by}")
    order = {"drain_since": group.drain_since or clock.now(), "drain_by": actor.name}
    order |= {"drain_reason": given["reason"], "drain_deadline": given["deadline"]}
    return _order(actor, ActKind.DRAIN, group, order, given["reason"])


@transaction.atomic
def undrain_group(actor: Actor, name: str, reason: str = "", version: int | None = None) -> Group:
    """End the drain: what is left of the group serves again and it may grow. Slices that have gone stay gone."""
    group = find_group(name)
    check_version(group, version)
    reason = read_act(reason=reason)["reason"]
    if group.drain_since is None:
        raise OperationRefused(f"group {name} is not draining")
    order = {"drain_since": None, "drain_by": "", "drain_reason": "", "drain_deadline": None}
    return _order(actor, ActKind.UNDRAIN, group, order, reason)


@transaction.atomic
def pause_group(
    actor: Actor, name: str, reason: str = "", until: datetime | None = None, version: int | None = None
) -> Group:
    """The group requests nothing new until `until` (None: until it is resumed); what it has goes on serving.

    Pausing a paused group is accepted only where it changes the end.
    """
    group = find_group(name)
    check_version(group, version)
    given = read_act(reason=reason, until=until)
    if is_paused(group, clock.now()) and group.pause_until == given["until"]:
        raise OperationRefused(f"group {name} is paused already, by {group.pause_by} until {when(group.pause_until)}")
    lapsed = not is_paused(group, clock.now())
    order = {"pause_since": clock.now() if lapsed else group.pause_since, "pause_by": actor.name}
    order |= {"pause_reason": given["reason"], "pause_until": given["until"]}
    changed = change_order(group, order, f"group {name}", over=_PAUSE_OVER if lapsed else {}, told=["pause_until"])
    return _recorded(actor, ActKind.PAUSE, group, changed, given["reason"])


@transaction.atomic
def resume_group(actor: Actor, name: str, reason: str = "", version: int | None = None) -> Group:
    """End the pause before its time."""
    group = find_group(name)
    check_version(group, version)
    reason = read_act(reason=reason)["reason"]
    if not is_paused(group, clock.now()):
        raise OperationRefused(f"group {name} is not paused")
    return _order(actor, ActKind.RESUME, group, _PAUSE_OVER, reason)


def is_paused(group: Group, now: datetime) -> bool:
    """Whether an operator's pause holds; at its `until` it is over."""
    return group.pause_since is not None and (group.pause_until is None or now < group.pause_until)


def _order(actor: Actor, kind: ActKind, group: Group, order: Mapping[str, Any], reason: str) -> Group:
    return _recorded(actor, kind, group, change(group, order, f"group {group.name}"), reason)


def _recorded(actor: Actor, kind: ActKind, group: Group, changed: Diff, reason: str) -> Group:
    before, after = changed
    judge_orders(group)
    cause = cause_of(kind, group.name)
    record(kind, actor=actor, group=group.name, reason=reason, before=before, after=after, cause=cause)
    announce.group(group)
    return group
