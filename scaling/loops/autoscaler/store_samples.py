"""Stores the points of the groups' charts: one a minute at most, and only where something differs."""

from collections.abc import Sequence
from datetime import datetime

from scaling.models import GroupSample, GroupStatus

_ROWS = 500
_VALUES = ["ready", "in_flight", "demand", "max_slices"]


def store_samples(statuses: Sequence[GroupStatus], at: datetime) -> None:
    """Samples of these evaluations; of several in a minute the last one stays."""
    GroupSample.objects.bulk_create(
        [_sample(status, at.replace(second=0, microsecond=0)) for status in statuses],
        batch_size=_ROWS,
        update_conflicts=True,
        unique_fields=["group", "at"],
        update_fields=_VALUES,
    )


def drawn(status: GroupStatus) -> tuple[int, int, int, int | None]:
    """What a chart shows of an evaluation: ready, in flight, demand, max; all in slices."""
    counts = status.slices
    in_flight = counts.get("REQUESTING", 0) + counts.get("BOOTING", 0)
    return counts.get("READY", 0), in_flight, status.used, status.max_slices


def _sample(status: GroupStatus, minute: datetime) -> GroupSample:
    return GroupSample(group_id=status.group_id, at=minute, **dict(zip(_VALUES, drawn(status), strict=True)))
