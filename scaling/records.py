"""Stored rows as the records of the pure core."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from scaling.autoscaler import models as core
from scaling.models import Group, GroupMemory, Installation, Marker, Orphan, Platform, QuotaPool, Slice, Worker
from scaling.moments import seconds

# A group's record is checked field by field when made, so it is kept until the row changes.
_groups: dict[int, tuple[tuple[object, ...], core.ScalingGroup]] = {}


def group_record(row: Group) -> core.ScalingGroup:
    """The planner's view of a group; `row.platform` and `row.quota_pool` must be loaded."""
    stamp = (row.version, row.updated_at, row.platform.name, row.quota_pool and row.quota_pool.name)
    kept = _groups.get(row.pk)
    if kept is None or kept[0] != stamp:
        kept = _groups[row.pk] = (stamp, core.ScalingGroup(_group_mapping(row)))
    return kept[1]


def _group_mapping(row: Group) -> dict[str, object]:
    given: dict[str, object] = {
        "name": row.name,
        "platform": row.platform.name,
        "zone": row.zone,
        "region": row.region,
        "device_type": row.device_type,
        "device_variant": row.device_variant,
        "devices_per_worker": row.devices_per_worker,
        "workers_per_slice": row.workers_per_slice,
        "worker_cpu": row.worker_cpu,
        "worker_memory": row.worker_memory,
        "worker_disk": row.worker_disk,
        "capacity_type": row.capacity_type,
        "priority": row.priority,
        "min_slices": row.min_slices,
        "buffer_slices": row.buffer_slices,
        "max_slices": row.max_slices,
        "quota_pool": row.quota_pool.name if row.quota_pool else None,
        "allocation_tier": row.allocation_tier,
        "idle_threshold": row.idle_threshold_seconds,
        "drain_idle_threshold": row.drain_idle_threshold_seconds,
        "scale_up_rate": row.scale_up_rate,
        "scale_down_rate": row.scale_down_rate,
        "provision_timeout": row.provision_timeout_seconds,
        "attributes": row.attributes,
    }
    return given


def control_record(row: Group, memory: GroupMemory | None) -> core.GroupControl:
    drain = pause = None
    if row.drain_since:
        drain = core.Drain(seconds(row.drain_since), row.drain_by, seconds(row.drain_deadline), row.drain_reason)
    if row.pause_since:
        pause = core.Pause(seconds(row.pause_since), row.pause_by, seconds(row.pause_until), row.pause_reason)
    backoff = core.BackoffMemory()
    if memory and memory.backoff_failures:
        backoff = core.BackoffMemory(memory.backoff_failures, seconds(memory.backoff_last_failure_at))
    return core.GroupControl(drain, pause, backoff)


def halt_record(row: Installation) -> core.Pause | None:
    """The halt of everything, where one is in force."""
    if row.halted_since is None:
        return None
    return core.Pause(seconds(row.halted_since), row.halted_by, None, row.halted_reason)


def pool_record(row: QuotaPool) -> core.QuotaPool:
    return core.QuotaPool(row.name, row.limit, row.quota_metric, row.learned_limit, seconds(row.learned_at))


def marker_record(row: Marker) -> core.Marker:
    """An open marker; `row.group` must be loaded."""
    return core.Marker(
        group=row.group.name,
        kind=core.MarkerKind(row.kind),
        since=seconds(row.since),
        until=seconds(row.until),
        error=row.message,
        failures=row.failures,
        last_failure=seconds(row.last_failure_at),
        needs_person=row.needs_person,
        acknowledged_at=seconds(row.acknowledged_at),
        acknowledged_by=row.acknowledged_by,
        acknowledged_note=row.acknowledged_note,
    )


def platform_record(row: Platform) -> core.PlatformStatus:
    return core.PlatformStatus(core.Mode(row.mode), row.aborts_in_a_row, seconds(row.unreachable_since), row.last_error)


def orphan_record(row: Orphan) -> core.Orphan:
    return core.Orphan(row.name, row.platform.name, seconds(row.first_seen_at))


def slice_record(row: Slice, workers: Sequence[core.Worker], now: datetime) -> core.Slice:
    """A slice with its workers in the order of their index; `row.group` must be loaded."""
    drain = None
    if row.drain_since:
        drain = core.Drain(seconds(row.drain_since), row.drain_by, seconds(row.drain_deadline), row.drain_reason)
    return core.Slice(
        name=row.name,
        group=row.group.name,
        state=core.SliceState(row.state),
        created=seconds(row.requested_at),
        sent_at=seconds(row.sent_at),
        retry_at=_retry_at(row, now),
        ready_since=seconds(row.ready_at),
        workers=tuple(workers),
        drain=drain,
        gang_job=row.gang,
        gang_since=seconds(row.gang_since),
        probe=row.is_probe,
        delete_asked_at=seconds(row.delete_asked_at),
        missing=row.not_found_count,
        error=row.error,
    )


def _retry_at(row: Slice, now: datetime) -> float | None:
    """When it is to be asked for again.

    None before it was asked for, which its intent has paid for already, and while an answer is awaited: until the claim
    of whoever asks has run out.
    """
    if row.state != Slice.State.REQUESTING or not row.attempts:
        return None
    if row.sent_at is not None and row.next_attempt_at is not None and now < row.next_attempt_at:
        return None
    return seconds(row.next_attempt_at)


def worker_record(row: Worker, active: int, used: core.Usage, freed_at: float | None = None) -> core.Worker:
    """`active` and `used`: the tasks Iris placed. What the worker reports beside them takes an unknown share of it."""
    elsewhere = row.reported_tasks > 0
    return core.Worker(
        index=row.index,
        active_tasks=active + row.reported_tasks,
        used=None if elsewhere else used,
        idle_since=seconds(row.idle_since),
        freed_at=freed_at,
        unknown_since=seconds(row.unknown_since),
        missing=row.not_found_count,
    )


def open_markers(rows: Sequence[Marker]) -> Mapping[tuple[str, core.MarkerKind], core.Marker]:
    records = [marker_record(row) for row in rows]
    return {(record.group, record.kind): record for record in records}
