"""Acts on what Iris may do to the outside: a platform's mode, and the one control that stops everything."""

from collections.abc import Mapping

from django.db import transaction

from scaling import clock
from scaling.history import Actor, record
from scaling.models import Installation, Platform
from scaling.operations import announce
from scaling.operations.acts import ActKind, read_act, when
from scaling.operations.changes import change, check_version, find_platform
from scaling.operations.errors import NotFound, OperationRefused
from scaling.operations.inputs import Choice
from scaling.operations.taking_back import cause_of

MODE = Choice(tuple(Platform.Mode.values))


@transaction.atomic
def set_platform_mode(actor: Actor, name: str, mode: str, reason: str = "", version: int | None = None) -> Platform:
    """`observe`: plans are made and shown, nothing is sent. `act`: they are carried out."""
    platform = find_platform(name)
    check_version(platform, version)
    reason = read_act(reason=reason)["reason"]
    try:
        wanted = MODE.read(mode)
    except ValueError as wrong:
        raise OperationRefused(str(wrong), "mode") from None
    if platform.mode == wanted:
        raise OperationRefused(f"platform {name} is in mode {wanted} already")
    before, after = change(platform, {"mode": wanted}, f"platform {name}")
    target = f"platform {name}"
    cause = cause_of(ActKind.SET_PLATFORM_MODE)
    record(
        ActKind.SET_PLATFORM_MODE, actor=actor, target=target, reason=reason, before=before, after=after, cause=cause
    )
    announce.platform(platform)
    return platform


@transaction.atomic
def halt(actor: Actor, reason: str = "", version: int | None = None) -> Installation:
    """Stop all buying and releasing at once, on every platform."""
    installation = _installation(version)
    reason = read_act(reason=reason)["reason"]
    if installation.halted_since:
        since, by = when(installation.halted_since), installation.halted_by
        raise OperationRefused(f"buying and releasing of slices are halted already, since {since} by {by}")
    order = {"halted_since": clock.now(), "halted_by": actor.name, "halted_reason": reason}
    return _order(actor, ActKind.HALT, installation, order, reason)


@transaction.atomic
def unhalt(actor: Actor, reason: str = "", version: int | None = None) -> Installation:
    """Let buying and releasing go on from the next cycle."""
    installation = _installation(version)
    reason = read_act(reason=reason)["reason"]
    if installation.halted_since is None:
        raise OperationRefused("buying and releasing of slices are not halted")
    order = {"halted_since": None, "halted_by": "", "halted_reason": ""}
    return _order(actor, ActKind.UNHALT, installation, order, reason)


def _installation(version: int | None) -> Installation:
    row = Installation.objects.select_for_update().first()
    if row is None:
        raise NotFound("this installation is not set up yet: run `manage.py up` or `manage.py import_cluster` first")
    check_version(row, version)
    return row


def _order(
    actor: Actor, kind: ActKind, installation: Installation, order: Mapping[str, object], reason: str
) -> Installation:
    before, after = change(installation, order, "the installation")
    target = f"installation {installation}"
    cause = cause_of(kind, target=target)
    record(kind, actor=actor, target=target, reason=reason, before=before, after=after, cause=cause)
    announce.halt(installation.halted_since is not None)
    return installation
