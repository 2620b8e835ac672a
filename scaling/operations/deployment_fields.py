"""A deployment's settings: what an operator may set in place of the Gateway's, and which of them is in force."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from django.conf import settings

from scaling.lyc_settings import LycSettings
from scaling.models import Deployment
from scaling.operations.errors import Fault, InvalidRequest
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Number, Whole
from scaling.replicas.deployment import Deployment as Settings
from scaling.replicas.deployment import Pause
from scaling.replicas.deployment import PauseDirection as Direction

MAX_REPLICAS = 100_000
STABILIZATION_WINDOW_SECONDS = 300.0
_DAY_SECONDS = 86_400

EDIT_FIELDS = FieldTable(
    [
        Field("min_replicas", Whole(0, MAX_REPLICAS, nullable=True), "Never fewer healthy and coming ones than this."),
        Field("max_replicas", Whole(0, MAX_REPLICAS, nullable=True), "Never more replicas than this."),
        Field(
            "target_latency_p95_ms",
            Number(0, 3_600_000, nullable=True),
            "The p95 latency to keep, in milliseconds; 0 = do not scale by it.",
        ),
        Field("target_rps", Number(0, 1_000_000_000, nullable=True), "Requests per second of one replica; 0 = not."),
        Field(
            "stabilization_window_seconds",
            Number(0, _DAY_SECONDS, nullable=True),
            "A replica goes only when everything desired for this long could do without it.",
        ),
        Field("cooldown_seconds", Number(0, _DAY_SECONDS, nullable=True), "Rest between two changes by load."),
        Field("tolerance", Number(0, 0.99, nullable=True), "How far from its target the load may be without a change."),
        Field("scale_up_limit", Whole(1, MAX_REPLICAS, nullable=True), "The most that one call may add."),
    ]
)


class HasSettings(Protocol):
    """A deployment's row, as the model has it or as a tick reads it."""

    @property
    def deployment_id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def overrides(self) -> dict[str, Any]: ...
    @property
    def last_request_at(self) -> datetime | None: ...
    @property
    def pause_direction(self) -> str: ...
    @property
    def pause_until(self) -> datetime | None: ...


class From(StrEnum):
    """Where the setting in force comes from."""

    OVERRIDE = "override"
    GATEWAY = "gateway"
    DEFAULT = "default"


def source_of(row: HasSettings, name: str) -> From:
    """Where `name` (of EDIT_FIELDS) comes from."""
    if row.overrides.get(name) is not None:
        return From.OVERRIDE
    return From.GATEWAY if getattr(row, name) is not None else From.DEFAULT


def in_force(row: HasSettings, name: str) -> Any:
    """The value of `name` that decides: an operator's, else the Gateway's, else the constant (None where none)."""
    return decides(name, row.overrides.get(name), getattr(row, name))


def decides(name: str, ordered: Any, own: Any) -> Any:
    """Of an operator's value and the Gateway's the one in force, as `in_force` has it."""
    given = own if ordered is None else ordered
    return _default(name) if given is None and name in _DEFAULTS else given


_DEFAULTS = ("stabilization_window_seconds", "cooldown_seconds", "tolerance")


def _default(name: str) -> float:
    lyc: LycSettings = settings.LYC
    values = (STABILIZATION_WINDOW_SECONDS, lyc.cooldown_seconds, lyc.tolerance)
    return values[_DEFAULTS.index(name)]


def effective(row: HasSettings) -> Settings:
    """The settings in force, as the decision takes them; times in Unix seconds."""
    lyc: LycSettings = settings.LYC
    values = {name: in_force(row, name) for name in EDIT_FIELDS}
    return Settings(
        id=row.deployment_id,
        status=row.status,
        health_grace_seconds=lyc.health_grace_seconds,
        health_check_seconds=lyc.health_check_seconds,
        zero_after_seconds=lyc.zero_threshold_seconds,
        pause=pause_of(row),
        last_request_at=row.last_request_at.timestamp() if row.last_request_at else None,
        **values,
    )


def pause_of(row: HasSettings) -> Pause | None:
    """The pause as ordered, over or not."""
    if not row.pause_direction:
        return None
    until = row.pause_until.timestamp() if row.pause_until else None
    return Pause(until, Direction(row.pause_direction))


def read_edit(changes: Mapping[str, Any], row: Deployment) -> dict[str, Any]:
    """The changes as read; raises InvalidRequest naming each fault, min above max in force included."""
    read, faults = EDIT_FIELDS.try_read(changes)
    if not faults and (fault := _max_holds_min(read, row)):
        faults.append(fault)
    if faults:
        raise InvalidRequest.of(faults)
    return read


def _max_holds_min(read: Mapping[str, Any], row: Deployment) -> Fault | None:
    if not {"min_replicas", "max_replicas"} & read.keys():
        return None
    low, high = (_after(read, row, name) for name in ("min_replicas", "max_replicas"))
    if low <= high:
        return None
    if "max_replicas" in read:
        return Fault("max_replicas", f"expected at least min_replicas ({low}), got {high}")
    return Fault("min_replicas", f"expected at most max_replicas ({high}), got {low}")


def _after(read: Mapping[str, Any], row: Deployment, name: str) -> Any:
    """What will be in force: null gives the Gateway's value its place back."""
    if name not in read:
        return in_force(row, name)
    return getattr(row, name) if read[name] is None else read[name]
