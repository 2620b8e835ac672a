"""`/actions/<id>/undo/`: take an act back, shown before it is done like every act.

The page of an act that others have changed since says what it is now, and does nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from iris_web.access import Act, Role, may, require
from iris_web.pages import addresses
from iris_web.pages.act_fields import REASON, sentence
from iris_web.pages.acts import ActPage, run
from iris_web.pages.words import moment, phrase
from scaling import clock
from scaling.models import Action, Deployment, Group, Installation, Marker, Platform, QuotaPool, Slice
from scaling.operations import POOL_FIELDS, OperationRefused, read_limits
from scaling.operations.acts import ActKind, when
from scaling.operations.inputs import shown
from scaling.operations.telling import label
from scaling.operations.undo import Undo, as_written, is_still_undoable, undo_of
from scaling.previews import changes

# The act that a role must allow to take this kind back: the one that it took to do it.
NEEDS: dict[str, Act] = {
    ActKind.SET_LIMITS: Act.SET_LIMITS,
    ActKind.SET_TARGETS: Act.SET_LIMITS,
    ActKind.SET_QUOTA: Act.SET_QUOTA,
    ActKind.SET_PLATFORM_MODE: Act.SET_PLATFORM_MODE,
    ActKind.DRAIN: Act.DRAIN,
    ActKind.PAUSE: Act.PAUSE,
    ActKind.RESUME: Act.PAUSE,
    ActKind.ACKNOWLEDGE: Act.ACKNOWLEDGE,
    ActKind.HALT: Act.HALT,
    ActKind.UNHALT: Act.HALT,
    ActKind.SCALE: Act.SCALE,
}


def may_undo(role: Role | None, action: Action) -> bool:
    """Whether a link to take it back is drawn: the role may do that, and it can be done as the world is now."""
    return action.kind in NEEDS and may(role, NEEDS[action.kind]) and is_still_undoable(action)


def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Whoever may do an act may take it back; an act of an admin only an admin."""
    require(request, Act.DRAIN)
    action = Action.objects.filter(pk=pk).first()
    if action is None:
        raise Http404(f"There is no action {pk}.")
    return run(request, lambda: _page(action), NEEDS.get(action.kind, Act.DRAIN))


def _page(action: Action) -> ActPage:
    title = f"Undo: {phrase(action.kind)} {action.slice or action.group or action.target}"
    try:
        back = undo_of(action)
    except OperationRefused as refused:
        return _refused(action, title, str(refused))
    return ActPage(
        act=NEEDS[action.kind],
        title=title,
        button="Undo it",
        back=_place_of(back),
        done=f"Taken back: {phrase(action.kind)} {back.row}.",
        perform=lambda actor, given: back.perform(actor, given.get("reason", ""), given["version"]),
        nav="actions",
        subject=f"Action {action.pk}",
        effects=(f"{action.actor} did it at {when(action.at)}.", *_told(back)),
        fields=() if back.moved_on else (REASON,),
        version=back.version,
        change=None if back.moved_on else _change_of(back),
        problem=sentence(back.moved_on) if back.moved_on else "",
        serves=True,
        stops=action.kind == ActKind.RESUME,
        at_once=_stops_all(back),
    )


def _stops_all(back: Undo) -> bool:
    """It halts, or has a platform only observed again: that waits for nothing."""
    kind = back.action.kind
    return kind == ActKind.UNHALT or (kind == ActKind.SET_PLATFORM_MODE and back.restores.get("mode") == "observe")


def _refused(action: Action, title: str, text: str) -> ActPage:
    """Nothing to be done here but to be told why."""

    def refuse(_actor: object, _given: object) -> object:
        raise OperationRefused(text)

    return ActPage(
        act=Act.VIEW, title=title, button="", back=addresses.action(action), done="", perform=refuse, nav="actions",
        subject=f"Action {action.pk}", fields=(), problem=sentence(text),
    )  # fmt: skip


def _told(back: Undo) -> list[str]:
    """What holds again afterwards, field by field; orders are told by their effect alone."""
    if back.moved_on:
        return []
    if back.action.kind in (ActKind.SET_LIMITS, ActKind.SET_TARGETS, ActKind.SET_QUOTA, ActKind.SET_PLATFORM_MODE):
        after = back.action.after or {}
        return [f"{label(name)}: {shown(after.get(name))} → {shown(value)}" for name, value in back.restores.items()]
    return [_MEANING[back.action.kind]]


_MEANING: dict[str, str] = {
    ActKind.DRAIN: "It serves again and may grow. Slices that have gone stay gone.",
    ActKind.PAUSE: "It may act again, as it might before the pause.",
    ActKind.RESUME: "It is paused again, as it was before.",
    ActKind.ACKNOWLEDGE: "It counts as not acknowledged again, and its notices are sent.",
    ActKind.HALT: "Buying and releasing go on from the next cycle.",
    ActKind.UNHALT: "Buying and releasing stop again at once.",
    ActKind.SCALE: "It is woken: brought to its minimum, at least one replica.",
}


def _change_of(back: Undo) -> changes.Change | None:
    """What it changes for the next cycle; None where no cycle plans it."""
    make = _CHANGES.get((back.action.kind, type(back.row)))
    return make(back.row, back.restores) if make else None


def _drain(group: Group, was: Mapping[str, Any]) -> changes.Change:
    if was.get("drain_since", "") is None or group.drain_since is None:
        return changes.undrained(group.name)
    return changes.drained(group.name, group.drain_since, moment(was.get("drain_deadline")))


def _pause(group: Group, was: Mapping[str, Any]) -> changes.Change:
    until = moment(was.get("pause_until"))
    if was.get("pause_since", "") is None or (until is not None and until <= clock.now()):
        return changes.resumed(group.name)
    return changes.paused(group.name, group.pause_since or clock.now(), until)


def _pool(pool: QuotaPool, was: Mapping[str, Any]) -> changes.Change:
    return changes.pool(pool.name, POOL_FIELDS.read(was))


_CHANGES: dict[tuple[str, type], Callable[[Any, Mapping[str, Any]], changes.Change]] = {
    (ActKind.SET_LIMITS, Group): lambda row, was: changes.limits(row.name, read_limits(as_written(was), row)),
    (ActKind.DRAIN, Group): _drain,
    (ActKind.PAUSE, Group): _pause,
    (ActKind.RESUME, Group): _pause,
    (ActKind.SET_QUOTA, QuotaPool): _pool,
    (ActKind.SET_PLATFORM_MODE, Platform): lambda row, was: changes.in_mode(row.name, was["mode"]),
    (ActKind.HALT, Installation): lambda _row, _was: changes.unhalted,
    (ActKind.DRAIN, Slice): lambda row, _was: changes.undrained_slice(row.name),
}


def _place_of(back: Undo) -> str:
    """The page of what it was done to."""
    row = back.row
    if isinstance(row, Group):
        return addresses.group(row)
    if isinstance(row, Slice):
        return addresses.slice_(row)
    if isinstance(row, Deployment):
        return addresses.deployment(row)
    if isinstance(row, Marker):
        return "/stockouts/"
    return "/groups/" if isinstance(row, QuotaPool) else "/settings/"
