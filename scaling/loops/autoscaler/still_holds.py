"""Whether what a plan relied on is still so, asked in the transaction that stores it.

A task that landed on a slice to be released wins; so does an operator who drained, paused, edited or stopped
meanwhile, and an answer of a platform that was saved since.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.db.models import Count, Q

from scaling import clock, records
from scaling.autoscaler import models as core
from scaling.autoscaler.models import CycleResult
from scaling.autoscaler.reclaim import reason_to_go
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.loops.autoscaler.store_slices import changed_values
from scaling.models import Group, Installation, Marker, Platform, QuotaPool, Slice, Task, Worker
from scaling.moments import seconds

# Names in one IN (...): SQLite takes 250,000 parameters, PostgreSQL 65,535.
_NAMES = 10_000


class Stale(Exception):
    """The plan rests on something that has changed since it was made; says what."""


def check(result: CycleResult, before: Snapshot) -> None:
    """Raise Stale unless the plan may be stored; what it changes stays locked until commit.

    Taken in the order of locks (docs/architecture.md). They leave keys alone, so that nobody who stores a row that
    refers to one of these waits for it.
    """
    _installation(before)
    _platforms(before)
    _groups(before)
    _markers(result, before)
    _pools(before)
    _slices(result, before)
    _releases(result, before)


def _installation(before: Snapshot) -> None:
    version = (
        Installation.objects.select_for_update(no_key=True)
        .values_list("version", flat=True)
        .get(pk=before.installation.pk)
    )
    if version != before.installation.version:
        raise Stale("the stop control")


def _platforms(before: Snapshot) -> None:
    modes = dict(Platform.objects.values_list("name", "mode"))
    if modes != {name: row.mode for name, row in before.platforms.items()}:
        raise Stale("a platform's mode")


def _groups(before: Snapshot) -> None:
    rows = Group.objects.select_for_update(of=("self",), no_key=True).order_by("name")
    versions = dict(rows.values_list("name", "version"))
    if versions != {name: row.version for name, row in before.groups.items()}:
        raise Stale("a group")


def _markers(result: CycleResult, before: Snapshot) -> None:
    """No marker was opened, closed or moved since, and those the plan changes, or buys beside, are as they were read.

    What else may change of one, that somebody knows of it, is in no evaluation.
    """
    rows = Marker.objects.select_for_update(of=("self",), no_key=True).filter(closed_at__isnull=True).order_by("pk")
    columns = rows.values_list("group__name", "kind", "version", "until", "message")
    stored = {(group, kind): (version, seconds(until), text) for group, kind, version, until, text in columns}
    read, after = before.state.markers, result.state.markers
    buying = {name for name, evaluation in result.evaluations.items() if evaluation.scale_up}
    relied_on = {key for key in read if key[0] in buying or after.get(key) != read[key]}
    versions = before.marker_versions
    if stored.keys() != versions.keys() or any(
        stored[key][1:] != (marker.until, marker.error) or (key in relied_on and stored[key][0] != versions[key])
        for key, marker in read.items()
    ):
        raise Stale("a marker")


def _pools(before: Snapshot) -> None:
    columns = ("name", "limit", "quota_metric", "learned_limit")
    rows = {name: tuple(rest) for name, *rest in QuotaPool.objects.select_for_update(no_key=True).values_list(*columns)}
    read = before.state.pools
    if rows != {name: (pool.limit, pool.quota_metric, pool.learned_limit) for name, pool in read.items()}:
        raise Stale("a quota pool")


def _slices(result: CycleResult, before: Snapshot) -> None:
    """Every slice that the plan changes must be as it was read; asking again for one changes nothing stored."""
    changed = [
        name
        for name, known in before.state.slices.items()
        if (record := result.state.slices.get(name)) is None
        or (record is not known and (changed_values(known, record) or record.workers != known.workers))
    ]
    for names in _batches(sorted(changed)):
        rows = Slice.objects.select_for_update(of=("self",), no_key=True).filter(name__in=names).order_by("name")
        for row in rows.only("name", "state", "attempts", "answered_at", "drain_since"):
            read = before.slices[row.name]
            if (row.state, row.attempts, row.answered_at, row.drain_since) != (
                read.state,
                read.attempts,
                read.answered_at,
                read.drain_since,
            ):
                raise Stale(f"slice {row.name}")


def _releases(result: CycleResult, before: Snapshot) -> None:
    """Each slice that goes by itself may still go, as it stands now: a task that landed in between wins."""
    names = [name for evaluation in result.evaluations.values() for name in evaluation.scale_down]
    going = [name for name in names if result.state.slices[name].delete_asked_at is not None]
    now = clock.now()
    for some in _batches(going):
        for item in _as_they_stand(some, before, now):
            group = before.groups[item.group]
            drain = records.control_record(group, None).drain
            if not reason_to_go(item, records.group_record(group), drain, now.timestamp()):
                raise Stale(f"slice {item.name}: it has no reason to go any more")


def _as_they_stand(names: Sequence[str], before: Snapshot, now: datetime) -> Iterator[core.Slice]:
    """The slices as records, with what is stored of them and of their workers now."""
    active = Count("tasks", filter=Q(tasks__state__in=Task.ACTIVE))
    workers: defaultdict[int, list[core.Worker]] = defaultdict(list)
    for row in Worker.objects.filter(slice__name__in=names).annotate(active=active).order_by("slice_id", "index"):
        workers[row.slice_id].append(records.worker_record(row, row.active, core.Usage()))
    for stored in Slice.objects.filter(name__in=names).order_by():
        stored.group = before.slices[stored.name].group
        yield records.slice_record(stored, workers[stored.pk], now)


def _batches(names: list[str]) -> Iterable[list[str]]:
    return (names[start : start + _NAMES] for start in range(0, len(names), _NAMES))
