"""The conditional change under every act: find the row, compare versions, write what differs, tell who was first."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol, TypeVar, cast

from django.db.models import F, Model, Q, QuerySet

from scaling import clock
from scaling.models import (
    Action,
    ActorKind,
    ApiToken,
    Deployment,
    Group,
    Installation,
    Marker,
    Notice,
    Platform,
    QuotaPool,
    Slice,
)
from scaling.operations.errors import InvalidRequest, NotFound, OperationRefused, StaleVersion
from scaling.operations.fields import nearest
from scaling.operations.inputs import shown
from scaling.operations.telling import told


class _Versioned(Protocol):
    pk: Any
    version: int


M = TypeVar("M", bound=Model)
# How far back the change of one field is looked for.
ACTS_LOOKED_AT = 50
_MARKERS = {"stockout": "stockout", "backoff": "backoff", "quota": "quota failure", "permanent": "permanent failure"}
Diff = tuple[dict[str, Any], dict[str, Any]]


def find(model: type[M], key: str, value: object) -> M:
    """The row with that unique value, locked until the transaction ends; raises NotFound.

    Not against rows that refer to it: the loops insert those while they hold locks that an act goes on to take.
    """
    row = model._default_manager.select_for_update(no_key=True).filter(**{key: value}).first()
    if row is None:
        raise missing(model, key, value)
    return row


def missing(model: type[Model], key: str, value: object) -> NotFound:
    """The sentence for a row that is not there, with the nearest name where people choose names.

    Slices and workers are many, and machines go on asking for one that is gone: no look at all of them for each.
    """
    chosen = model is Deployment or (key == "name" and model in (ApiToken, Group, Platform, QuotaPool))
    names = model._default_manager.values_list(key, flat=True) if chosen else ()
    return NotFound(f"there is no {model._meta.verbose_name} {shown(value)}{nearest(str(value), names)}")


def find_group(name: str) -> Group:
    return find(Group, "name", name)


def find_pool(name: str) -> QuotaPool:
    return find(QuotaPool, "name", name)


def find_platform(name: str) -> Platform:
    return find(Platform, "name", name)


def as_json(value: Any) -> Any:
    """A stored value as the history keeps it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, Model):
        return str(value)
    return value


def difference(row: Model, values: Mapping[str, Any]) -> Diff:
    """(before, after) of the fields whose value differs."""
    changed = {name: value for name, value in values.items() if getattr(row, name) != value}
    return (
        {name: as_json(getattr(row, name)) for name in changed},
        {name: as_json(value) for name, value in changed.items()},
    )


def check_version(row: Model, version: object) -> None:
    """Refuse to work on a row that moved since the caller looked; `version` None means the caller did not look."""
    if version is None:
        return
    if isinstance(version, bool) or not isinstance(version, int):
        raise InvalidRequest(f"expected the whole number you were shown, got {shown(version)}", "version")
    present = cast(_Versioned, row).version
    if version > present:
        raise StaleVersion(f"{called(row)} is at version {present}, not yet at {version}; look at it again", row)
    if version < present:
        raise stale(row)


def write(row: Model, values: Mapping[str, Any]) -> None:
    """Store `values` if the row still has the version it was read with, and count the version up."""
    held = cast(_Versioned, row)
    manager = type(row)._default_manager
    stamped = dict(values) | ({"updated_at": clock.now()} if hasattr(row, "updated_at") else {})
    updated = manager.filter(pk=held.pk, version=held.version).update(**stamped, version=F("version") + 1)
    if updated != 1:
        raise stale(row)
    for name, value in stamped.items():
        setattr(row, name, value)
    held.version += 1


def change(row: Model, values: Mapping[str, Any], what: str) -> Diff:
    """Write what differs and return it; raises OperationRefused where nothing does."""
    before, after = difference(row, values)
    if not after:
        raise OperationRefused(f"nothing to change: {what} has these values already")
    write(row, {name: values[name] for name in after})
    return before, after


def change_order(
    row: Model, values: Mapping[str, Any], what: str, *, over: Mapping[str, Any], told: Sequence[str]
) -> Diff:
    """As `change`, for an order that may lie over an older one which has run out: `over` is how the row stands then.

    What ran out is not told as what was before. `told` are fields that the history tells even where they do not differ.
    """
    for name, value in over.items():
        setattr(row, name, value)
    before, after = difference(row, values)
    if not after:
        raise OperationRefused(f"nothing to change: {what} has these values already")
    for name in told:
        before.setdefault(name, as_json(getattr(row, name)))
        after.setdefault(name, as_json(values[name]))
    write(row, values)
    return before, after


def stale(row: Model) -> StaleVersion:
    """Says who changed what, from the history."""
    current = type(row)._default_manager.filter(pk=row.pk).first() or row
    last = last_change_of(current) or "someone else changed it"
    return StaleVersion(f"{called(row)} has changed since you looked at it: {last}", current)


def called(row: Model) -> str:
    """What people call a row: by its name, or in words where it has none that they know it by."""
    if isinstance(row, Installation):
        return "the halt of buying and releasing of slices"
    if isinstance(row, Marker):
        return f"the {_MARKERS[row.kind]} of {row.group}"
    if isinstance(row, Notice):
        return f'the notice "{row}"'
    return f"{row._meta.verbose_name} {row}"


def last_change_of(row: Model, field: str = "") -> str:
    """Who last changed it (or that field), when, what and why, in words; "" where nobody did."""
    acts = acts_on(row).order_by("-id")[: ACTS_LOOKED_AT if field else 1]
    last = next((act for act in acts if not field or field in (act.after or {})), None)
    return told(last, clock.now()) if last else ""


def acts_on(row: Model) -> QuerySet[Action]:
    """What the history has of a row, by those whose acts move its version."""
    if isinstance(row, Group):
        chosen = Q(group=row.name, slice="", kind__in=("set_limits", "import", "drain", "undrain", "pause", "resume"))
    elif isinstance(row, Deployment):
        # What its scaler did moves no version.
        chosen = Q(target=f"deployment {row}", actor_kind__in=(ActorKind.USER, ActorKind.TOKEN))
    elif isinstance(row, Slice):
        chosen = Q(slice=row.name, actor_kind__in=(ActorKind.USER, ActorKind.TOKEN))
    elif isinstance(row, Notice):
        chosen = Q(target__startswith=f"notice {row.pk}: ")
    elif hasattr(row, "group"):
        chosen = Q(group=str(row.group), target=f"marker {row.pk}")
    else:
        chosen = Q(target=f"{row._meta.verbose_name} {row}")
    found: QuerySet[Action] = Action.objects.filter(chosen)
    return found
