"""Slices and workers as a plan alone needs them: tens of thousands of rows without the price of their models.

A row has the names of its model's columns, so that what reads one reads the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from scaling.models import Group, Platform, Slice, Worker


class _LightSlice(NamedTuple):
    pk: int
    name: str
    group: Group
    platform: Platform
    state: str
    requested_at: datetime
    sent_at: datetime | None
    ready_at: datetime | None
    delete_asked_at: datetime | None
    error: str
    attempts: int
    next_attempt_at: datetime | None
    is_probe: bool
    gang: str
    gang_since: datetime | None
    not_found_count: int
    drain_since: datetime | None
    drain_by: str
    drain_reason: str
    drain_deadline: datetime | None


@dataclass(slots=True)
class _LightWorker:
    """No tuple, which has an `index` of its own."""

    pk: int
    slice_id: int
    index: int
    state: str
    heard_at: datetime | None
    unknown_since: datetime | None
    idle_since: datetime | None
    not_found_count: int
    reported_tasks: int


def light_slices(groups: Mapping[int, Group], platforms: Mapping[int, Platform]) -> dict[str, Slice]:
    """Every slice that is not gone, by name; `groups` and `platforms` by key. One query."""
    rows = Slice.objects.filter(ended_at__isnull=True).order_by().values_list(*_LightSlice._fields)
    found: dict[str, Any] = {
        name: _LightSlice(pk, name, groups[group], platforms[platform], *rest)
        for pk, name, group, platform, *rest in rows
    }
    return cast("dict[str, Slice]", found)


def light_workers(names: Mapping[int, str]) -> dict[tuple[str, int], Worker]:
    """The workers of these slices, which are told by key, in the order of their index. One query."""
    rows = Worker.objects.filter(slice__ended_at__isnull=True).order_by("slice_id", "index")
    found: dict[tuple[str, int], Any] = {
        (names[row[1]], row[2]): _LightWorker(*row)
        for row in rows.values_list(*_LightWorker.__slots__)
        if row[1] in names
    }
    return cast("dict[tuple[str, int], Worker]", found)
