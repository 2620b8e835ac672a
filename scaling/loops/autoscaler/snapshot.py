"""What is stored, read at one moment as the planner's ClusterState, with the keys needed to store its result."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings

from scaling import clock, records
from scaling.autoscaler import models as core
from scaling.autoscaler.collector import CollectorAtRest
from scaling.autoscaler.rooms import UNUSED_SECONDS
from scaling.loops.autoscaler.consistent_read import consistent_read
from scaling.loops.autoscaler.demand import waiting_jobs
from scaling.loops.autoscaler.light_rows import light_slices, light_workers
from scaling.loops.autoscaler.usage import active_usage, freed_since
from scaling.models import Group, GroupMemory, Hint, Installation, Marker, Orphan, Platform, QuotaPool, Slice, Worker
from scaling.moments import seconds


class StoredHint(NamedTuple):
    """A Hint row, as light as 100,000 of them must be."""

    job_id: int
    code: str
    reason: str
    blocked_by: list[dict[str, object]]
    since: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`state` and `demand` are the planner's; the rest is what storing needs: rows by name, job keys, row ids."""

    state: core.ClusterState
    demand: Sequence[core.DemandEntry]
    installation: Installation
    platforms: Mapping[str, Platform]
    groups: Mapping[str, Group]
    slices: Mapping[str, Slice]
    workers: Mapping[tuple[str, int], Worker]
    marker_versions: Mapping[tuple[str, str], int]
    job_pks: Mapping[str, int]
    hints: Mapping[int, StoredHint]


def installation_row() -> Installation:
    """The one row of this installation; `up` and `migrate` make it."""
    return Installation.objects.get()


def read() -> Snapshot:
    """Everything the planner needs, as it was at one moment."""
    with consistent_read():
        return _read()


def read_to_plan() -> Snapshot:
    """The same for a plan that is not stored: slices and workers are light rows, and hints are not read."""
    with CollectorAtRest(), consistent_read():
        return _read(light=True)


def _read(light: bool = False) -> Snapshot:
    installation = installation_row()
    platforms = {row.name: row for row in Platform.objects.all()}
    groups = {row.name: row for row in Group.objects.select_related("platform", "quota_pool")}
    memories = {row.group_id: row for row in GroupMemory.objects.all()}
    pools = [records.pool_record(row) for row in QuotaPool.objects.all()]
    slices = _slices(groups, platforms, light)
    worker_rows = _workers(slices, light)
    markers = list(Marker.objects.filter(closed_at__isnull=True).select_related("group"))
    entries, job_pks = waiting_jobs()
    hints = {} if light else _hints()
    state = core.ClusterState(
        groups={name: records.group_record(row) for name, row in groups.items()},
        controls={name: records.control_record(row, memories.get(row.pk)) for name, row in groups.items()},
        pools={pool.name: pool for pool in pools},
        slices=_slice_records(slices, worker_rows),
        markers=records.open_markers(markers),
        platforms={name: records.platform_record(row) for name, row in platforms.items()},
        orphans=_orphans(),
        up_buckets=_buckets(groups, memories, "up"),
        down_buckets=_buckets(groups, memories, "down"),
        create_bucket=_create_bucket(installation),
        creates_per_minute=settings.IRIS_CREATES_PER_MINUTE,
        halted=records.halt_record(installation),
        hints_since=_hints_since(hints, job_pks),
        installation=installation.identity,
        name_prefix={row.name: row.label_prefix for row in platforms.values()},
    )
    return Snapshot(
        state=state,
        demand=list(entries.values()),
        installation=installation,
        platforms=platforms,
        groups=groups,
        slices=slices,
        workers=worker_rows,
        marker_versions={(row.group.name, row.kind): row.version for row in markers},
        job_pks=job_pks,
        hints=hints,
    )


def _hints() -> dict[int, StoredHint]:
    return {row.job_id: row for row in map(StoredHint._make, Hint.objects.values_list(*StoredHint._fields))}


def _orphans() -> dict[str, core.Orphan]:
    """Of two platforms' orphans of one name the one seen first: the planner deals with one of a name at a time."""
    found: dict[str, core.Orphan] = {}
    for row in Orphan.objects.select_related("platform").order_by("first_seen_at", "pk"):
        found.setdefault(row.name, records.orphan_record(row))
    return found


def _slices(groups: Mapping[str, Group], platforms: Mapping[str, Platform], light: bool) -> dict[str, Slice]:
    """Every slice that is not gone; a failed one stays until its platform no longer lists it."""
    group_rows = {row.pk: row for row in groups.values()}
    platform_rows = {row.pk: row for row in platforms.values()}
    if light:
        return light_slices(group_rows, platform_rows)
    found = {}
    for row in Slice.objects.filter(ended_at__isnull=True).order_by():
        row.group, row.platform = group_rows[row.group_id], platform_rows[row.platform_id]
        found[row.name] = row
    return found


def _workers(slices: Mapping[str, Slice], light: bool) -> dict[tuple[str, int], Worker]:
    names = {row.pk: name for name, row in slices.items() if row.state != Slice.State.FAILED}
    if light:
        return light_workers(names)
    rows = Worker.objects.filter(slice__ended_at__isnull=True).order_by("slice_id", "index")
    return {(names[row.slice_id], row.index): row for row in rows if row.slice_id in names}


def _slice_records(slices: Mapping[str, Slice], workers: Mapping[tuple[str, int], Worker]) -> dict[str, core.Slice]:
    used, now = active_usage(), clock.now()
    freed = freed_since(now - timedelta(seconds=UNUSED_SECONDS))
    by_slice: defaultdict[str, list[core.Worker]] = defaultdict(list)
    for (name, _index), row in workers.items():
        active, usage = used.get(row.pk, (0, core.Usage()))
        by_slice[name].append(records.worker_record(row, active, usage, freed.get(row.pk)))
    return {name: records.slice_record(row, by_slice.get(name, ()), now) for name, row in slices.items()}


def _buckets(groups: Mapping[str, Group], memories: Mapping[int, GroupMemory], way: str) -> dict[str, core.Bucket]:
    found: dict[str, core.Bucket] = {}
    for name, row in groups.items():
        memory = memories.get(row.pk)
        tokens = getattr(memory, f"{way}_tokens", None)
        at = getattr(memory, f"{way}_at", None)
        if tokens is not None and at is not None:
            found[name] = core.Bucket(tokens, seconds(at))
    return found


def _create_bucket(row: Installation) -> core.Bucket | None:
    if row.create_tokens is None or row.create_tokens_at is None:
        return None
    return core.Bucket(row.create_tokens, seconds(row.create_tokens_at))


def _hints_since(hints: Mapping[int, StoredHint], job_pks: Mapping[str, int]) -> dict[str, tuple[core.HintCode, float]]:
    return {
        key: (core.HintCode(hint.code), seconds(hint.since))
        for key, pk in job_pks.items()
        if (hint := hints.get(pk)) is not None
    }
