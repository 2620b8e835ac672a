"""Stores the points of the groups' charts: one a minute at most, where something differs or a gap began."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Protocol

from scaling.group_history import stands_seconds
from scaling.models import GroupSample, GroupStatus

_ROWS = 500
_VALUES = ["ready", "in_flight", "demand", "max_slices"]
_MINUTE = timedelta(minutes=1)
_Drawn = tuple[int | None, ...]
_NOTHING: _Drawn = (None, None, None, None)


class Seen(Protocol):
    """What is looked at of an evaluation."""

    @property
    def at(self) -> datetime: ...

    @property
    def slices(self) -> Mapping[str, int]: ...

    @property
    def used(self) -> int: ...

    @property
    def max_slices(self) -> int | None: ...


def store_samples(seen: Iterable[tuple[Seen | None, GroupStatus]]) -> None:
    """`seen`: (the evaluation before, if there was one, and the new one). Of several in a minute the last one stays."""
    GroupSample.objects.bulk_create(
        [sample for old, new in seen for sample in _samples(old, new)],
        batch_size=_ROWS,
        update_conflicts=True,
        unique_fields=["group", "at"],
        update_fields=_VALUES,
    )


def _samples(old: Seen | None, new: GroupStatus) -> list[GroupSample]:
    if old is None:
        return [_sample(new, new.at, _drawn(new))]
    known_until = old.at + timedelta(seconds=stands_seconds())
    if known_until + _MINUTE < new.at:
        return [_sample(new, known_until, _NOTHING), _sample(new, new.at, _drawn(new))]
    return [_sample(new, new.at, _drawn(new))] if _drawn(old) != _drawn(new) else []


def _drawn(status: Seen) -> _Drawn:
    counts = status.slices
    in_flight = counts.get("REQUESTING", 0) + counts.get("BOOTING", 0)
    return counts.get("READY", 0), in_flight, status.used, status.max_slices


def _sample(status: GroupStatus, at: datetime, values: _Drawn) -> GroupSample:
    minute = at.replace(second=0, microsecond=0)
    return GroupSample(group_id=status.group_id, at=minute, **dict(zip(_VALUES, values, strict=True)))
