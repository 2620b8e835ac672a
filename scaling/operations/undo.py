"""Taking an act back by its Action: only while what it set is still as it set it.

The way back is an act of its own, by the same operations, with its own Action; nothing is wound back behind anybody.
What has no way back is a failure that was forgotten (it comes again by itself if it is still there), a deployment that
was forgotten, and an order to scale that is not a hold at zero: there the load decides again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model

from scaling import clock
from scaling.history import Actor
from scaling.models import Action, Deployment, Group, Installation, Marker, Platform, QuotaPool, Scaler, Slice
from scaling.operations.acts import ActKind, when
from scaling.operations.changes import as_json, called, last_change_of, missing
from scaling.operations.deployments import edit_deployment, pause_deployment, resume_deployment, wake_deployment
from scaling.operations.ends import ended
from scaling.operations.errors import OperationError, OperationRefused
from scaling.operations.group_fields import POOL_FIELDS
from scaling.operations.groups import drain_group, pause_group, resume_group, set_group_limits, undrain_group
from scaling.operations.markers import unacknowledge_marker
from scaling.operations.platforms import halt, set_platform_mode, unhalt
from scaling.operations.pools import set_quota_pool
from scaling.operations.slices import DRAINABLE, undrain_slice
from scaling.operations.taking_back import taken_back_by, taking_back
from scaling.operations.telling import ago, label, value_words
from scaling.replicas.memory import ZeroBy

Values = Mapping[str, Any]
# (actor, the row, what was before, reason, the row's version): the act that takes it back.
_Back = Callable[[Actor, Any, Values, str, int | None], object]


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back from one Action. `restores` is what will hold again; `moved_on` says why it can't be gone, or ""."""

    action: Action
    row: Model
    restores: Values
    moved_on: str

    @property
    def version(self) -> int | None:
        return getattr(self.row, "version", None)

    def perform(self, actor: Actor, reason: str = "", version: int | None = None) -> object:
        """Take it back; raises OperationRefused where others have changed it since."""
        if self.moved_on:
            raise OperationRefused(self.moved_on)
        why = reason or f"takes back action {self.action.pk}"
        with taking_back(self.action):
            return _BACK[self.action.kind, type(self.row)](actor, self.row, self.restores, why, version)


def is_undoable(action: Action) -> bool:
    """Whether the act has a way back at all. No query."""
    model = _model_of(action)
    return model is not None and action.outcome == "ok" and bool(_restores(action, model))


def is_still_undoable(action: Action) -> bool:
    """Whether it can be taken back as the world is now. A few queries."""
    try:
        return not undo_of(action).moved_on
    except OperationError:
        return False


def undo_of(action: Action) -> Undo:
    """The way back as the world is now; raises OperationRefused where there is none, NotFound where the row is gone."""
    model = _model_of(action)
    if model is None or not is_undoable(action):
        raise OperationRefused(f"{action.kind.replace('_', ' ')} can't be taken back")
    row = _row_of(action, model)
    return Undo(action, row, _restores(action, model), _moved_on(action, row))


def _drain_back(actor: Actor, group: Group, before: Values, reason: str, version: int | None) -> Group:
    if before.get("drain_since", "") is None:
        return undrain_group(actor, group.name, reason, version)
    return drain_group(actor, group.name, reason, before["drain_deadline"], version)


def _pause_back(actor: Actor, group: Group, before: Values, reason: str, version: int | None) -> Group:
    if before.get("pause_since", "") is None or _is_past(before.get("pause_until")):
        return resume_group(actor, group.name, reason, version)
    return pause_group(actor, group.name, reason, before["pause_until"], version)


def _paused_deployment_back(actor: Actor, row: Deployment, before: Values, reason: str, version: int | None) -> object:
    if before.get("pause_since", "") is None or _is_past(before.get("pause_until")):
        return resume_deployment(actor, row.deployment_id, reason, version)
    direction = before.get("pause_direction") or row.pause_direction
    until = before.get("pause_until", row.pause_until)
    return pause_deployment(actor, row.deployment_id, direction, until, reason, version)


def _resumed_deployment_back(actor: Actor, row: Deployment, before: Values, reason: str, version: int | None) -> object:
    direction, until = before["pause_direction"], before.get("pause_until")
    return pause_deployment(actor, row.deployment_id, direction, until, reason, version)


_BACK: dict[tuple[str, type[Model]], _Back] = {
    (ActKind.SET_LIMITS, Group): lambda by, row, was, why, version: set_group_limits(
        by, row.name, _seen(row, version), as_written(was), why
    ),
    (ActKind.DRAIN, Group): _drain_back,
    (ActKind.PAUSE, Group): _pause_back,
    (ActKind.RESUME, Group): lambda by, row, was, why, version: pause_group(
        by, row.name, why, was.get("pause_until"), version
    ),
    (ActKind.DRAIN, Slice): lambda by, row, _was, why, _version: undrain_slice(by, row.name, why),
    (ActKind.ACKNOWLEDGE, Marker): lambda by, row, _was, why, version: unacknowledge_marker(by, row.pk, why, version),
    (ActKind.SET_QUOTA, QuotaPool): lambda by, row, was, why, version: set_quota_pool(
        by, row.name, _seen(row, version), was, why
    ),
    (ActKind.SET_PLATFORM_MODE, Platform): lambda by, row, was, why, version: set_platform_mode(
        by, row.name, was["mode"], why, version
    ),
    (ActKind.HALT, Installation): lambda by, _row, _was, why, version: unhalt(by, why, version),
    (ActKind.UNHALT, Installation): lambda by, _row, _was, why, version: halt(by, why, version),
    (ActKind.PAUSE, Deployment): _paused_deployment_back,
    (ActKind.RESUME, Deployment): _resumed_deployment_back,
    (ActKind.SET_TARGETS, Deployment): lambda by, row, was, why, version: edit_deployment(
        by, row.deployment_id, _seen(row, version), was, why
    ),
    (ActKind.SCALE, Deployment): lambda by, row, _was, why, version: wake_deployment(
        by, row.deployment_id, why, version
    ),
}


def as_written(limits: Values) -> dict[str, Any]:
    """A group's limits out of the history, as an edit takes them."""
    written = dict(limits)
    if written.get("quota_pool", "") is None:
        written["quota_pool"] = ""
    if isinstance(written.get("price_per_slice_hour"), str):
        written["price_per_slice_hour"] = float(written["price_per_slice_hour"])
    return written


def _seen(row: Any, version: int | None) -> int:
    return int(row.version) if version is None else version


# How the history names what was acted on: the model, its key, and what stands before the name.
_TARGETS: tuple[tuple[str, type[Model], str], ...] = (
    ("marker ", Marker, "pk"),
    ("quota pool ", QuotaPool, "name"),
    ("platform ", Platform, "name"),
    ("installation ", Installation, "identity"),
    ("deployment ", Deployment, "deployment_id"),
)


def _model_of(action: Action) -> type[Model] | None:
    """What the act was done to, where that kind of act has a way back."""
    model: type[Model] | None = Slice if action.slice else Group if action.group and not action.target else None
    for start, kind, _key in _TARGETS:
        if action.target.startswith(start):
            model = kind
    return model if model is not None and (action.kind, model) in _BACK else None


def _row_of(action: Action, model: type[Model]) -> Model:
    start, key = next(((start, key) for start, kind, key in _TARGETS if kind is model), ("", "name"))
    name = action.slice or action.target.removeprefix(start) if start or action.slice else action.group
    row = model._default_manager.filter(**{key: name}).first()
    if row is None:
        raise missing(model, key, name)
    return row


def _restores(action: Action, model: type[Model]) -> Values:
    """What was before, as the way back takes it; nothing where there is no way back from this very act."""
    before, after = action.before or {}, action.after or {}
    if model is QuotaPool:
        return {name: value for name, value in before.items() if name in POOL_FIELDS}
    if model is Marker:
        # Somebody else's acknowledgement is not given again in their name.
        return before if not before.get("acknowledged_by") and before.get("acknowledged_at", "") is None else {}
    if action.kind == ActKind.SCALE:
        return before if after.get("held at zero by") == ZeroBy.OPERATOR.value else {}
    if action.kind == ActKind.DRAIN and model is Group:
        return before if {"drain_since", "drain_deadline"} & before.keys() else {}
    if action.kind == ActKind.PAUSE and model is Group:
        return before if {"pause_since", "pause_until"} & before.keys() else {}
    return before


def _moved_on(action: Action, row: Model) -> str:
    """Why it can't be taken back any more: what it set is not as it set it."""
    if taken := taken_back_by(action):
        return f"it was taken back already by {taken.actor}, {ago(taken.at, clock.now())} (action {taken.pk})"
    if over := _is_over(action, row):
        return over
    now = _present(action, row)
    other = [name for name, value in (action.after or {}).items() if name in now and now[name] != value]
    if not other:
        return ""
    name = other[0]
    is_now, was = value_words(now[name]), value_words((action.after or {})[name])
    last = last_change_of(row, name) or f"{label(name)} is {is_now} now, not {was} any more"
    return f"{called(row)} has moved on since: {last}"


def _is_over(action: Action, row: Model) -> str:
    """Why there is nothing left to take back, or nothing that could come back, though nobody changed what it set."""
    if over := ended(action, clock.now()):
        return f"it {over}"
    before = action.before or {}
    if isinstance(row, Deployment) and row.gone_at is not None:
        return f"{called(row)} is gone since {when(row.gone_at)}: the Gateway no longer lists it"
    if isinstance(row, Slice) and row.state not in DRAINABLE:
        return f"slice {row.name} is {row.state}: it is being released or gone"
    if action.kind == ActKind.RESUME and _is_past(before.get("pause_until")):
        return f"the pause that it ended would be over since {value_words(before['pause_until'])}"
    if action.kind == ActKind.DRAIN and _is_past(before.get("drain_deadline")):
        return f"the deadline that it had before has passed, at {value_words(before['drain_deadline'])}"
    return ""


def _is_past(told: object) -> bool:
    """Whether a time of the history has come."""
    return isinstance(told, str) and datetime.fromisoformat(told) <= clock.now()


def _present(action: Action, row: Model) -> Values:
    """The fields that the act set, as the history would tell them now."""
    if action.kind == ActKind.SCALE and isinstance(row, Deployment):
        scaler = Scaler.objects.filter(deployment=row).first()
        return {"held at zero by": (scaler.zero_by if scaler else "") or None}
    if action.kind == ActKind.SET_TARGETS and isinstance(row, Deployment):
        return {name: row.overrides.get(name) for name in action.after or {}}
    return {name: as_json(getattr(row, name)) for name in action.after or {} if hasattr(row, name)}


def restored_time(restores: Values, name: str) -> datetime | None:
    """A time among what will hold again."""
    text = restores.get(name)
    return datetime.fromisoformat(text) if isinstance(text, str) else None
