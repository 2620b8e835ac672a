"""Stores what a cycle found and decided for each group: the evaluation every view shows, memory, markers."""

from django.db.models import F

from scaling import feed
from scaling.autoscaler.models import BackoffMemory, ClusterState, CycleResult, GroupEvaluation
from scaling.autoscaler.waiting import NOBODY, Waiting, waiting_for
from scaling.loops.autoscaler.markers import store_markers
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.loops.autoscaler.store_samples import Seen, store_samples
from scaling.marker_checks import stored_check
from scaling.models import Cycle, Group, GroupMemory, GroupStatus
from scaling.moments import moment

_ROWS = 500
_STATUS_FIELDS = [
    field.name for field in GroupStatus._meta.fields if field.name not in ("group", "backoff_skipped_total")
]
_MEMORY_FIELDS = [field.name for field in GroupMemory._meta.fields if field.name != "group"]
# What an evaluation says; every cycle renews the other two.
_TOLD_FIELDS = [name for name in _STATUS_FIELDS if name not in ("cycle", "at")]


def store_groups(result: CycleResult, before: Snapshot, cycle: Cycle) -> None:
    _statuses(result, before, cycle)
    _memories(result, before)
    store_markers(
        before.state.markers,
        result.state.markers,
        {name: row.pk for name, row in before.groups.items()},
        moment(result.at),
    )


def _statuses(result: CycleResult, before: Snapshot, cycle: Cycle) -> None:
    # Compared with what is stored, since the cycle before may have been another worker's.
    columns = GroupStatus.objects.values_list("group_id", "at", *_TOLD_FIELDS, named=True)
    stored: dict[int, Seen] = {row.group_id: row for row in columns}
    rows: list[GroupStatus] = []
    waiting = _waiting(result, before)
    seen: list[tuple[Seen | None, GroupStatus]] = []
    changed: list[str] = []
    for name, evaluation in result.evaluations.items():
        row = _status(before.groups[name], evaluation, waiting.get(name, NOBODY), result, cycle)
        old = stored.get(row.group_id)
        if old is None or any(getattr(old, field) != getattr(row, field) for field in _TOLD_FIELDS):
            changed.append(name)
            rows.append(row)
        seen.append((old, row))
    GroupStatus.objects.bulk_create(
        rows, batch_size=_ROWS, update_conflicts=True, unique_fields=["group"], update_fields=_STATUS_FIELDS
    )
    store_samples(seen)
    GroupStatus.objects.exclude(cycle=cycle).update(cycle=cycle, at=moment(result.at))
    skipped = [before.groups[name].pk for name, found in result.evaluations.items() if found.backoff_skipped]
    if skipped:
        GroupStatus.objects.filter(pk__in=skipped).update(backoff_skipped_total=F("backoff_skipped_total") + 1)
    feed.publish_many((f"group:{name}", "evaluation", {"cycle": cycle.pk}) for name in changed)
    if changed:
        feed.publish("groups", "evaluation", {"groups": len(changed)})


def _waiting(result: CycleResult, before: Snapshot) -> dict[str, Waiting]:
    """Who waits for each group, by the hints that are stored."""
    tasks = {entry.job_id: entry.tasks for entry in before.demand}
    return waiting_for((hint for hint in result.hints if hint.job_id in before.job_pks), tasks)


def _status(group: Group, found: GroupEvaluation, waiting: Waiting, result: CycleResult, cycle: Cycle) -> GroupStatus:
    return GroupStatus(
        group_id=group.pk,
        max_slices=group.max_slices,
        cycle=cycle,
        at=moment(result.at),
        outcome=found.outcome.value,
        detail=found.detail,
        checks=[stored_check(check) for check in found.checks],
        assigned=found.assigned,
        deficit=found.deficit,
        scale_up=found.scale_up,
        scale_down=len(found.scale_down),
        target=found.target,
        used=found.used,
        capacity_remaining=found.capacity_remaining,
        quota_remaining=found.quota_remaining,
        backoff_expires_at=moment(found.backoff_expires_at),
        stockout_until=moment(found.stockout_until),
        slices={state.value: count for state, count in found.slices.items()},
        waiting_jobs=waiting.jobs,
        waiting_tasks=waiting.tasks,
        waiting_alone=waiting.alone,
    )


def _memories(result: CycleResult, before: Snapshot) -> None:
    rows = [
        _memory(name, result, before)
        for name, row in before.groups.items()
        if _remembered(name, result.state, row) != _remembered(name, before.state, row)
    ]
    GroupMemory.objects.bulk_create(
        rows, batch_size=_ROWS, update_conflicts=True, unique_fields=["group"], update_fields=_MEMORY_FIELDS
    )


def _remembered(name: str, state: ClusterState, row: Group) -> tuple[object, ...]:
    """What differs from knowing nothing: a full bucket is the same as none."""
    control = state.controls.get(name)
    up, down = state.up_buckets.get(name), state.down_buckets.get(name)
    return (
        control.backoff if control else BackoffMemory(),
        None if up is None or up.tokens >= row.scale_up_rate else up,
        None if down is None or down.tokens >= row.scale_down_rate else down,
    )


def _memory(name: str, result: CycleResult, before: Snapshot) -> GroupMemory:
    control = result.state.controls.get(name)
    up = result.state.up_buckets.get(name)
    down = result.state.down_buckets.get(name)
    return GroupMemory(
        group_id=before.groups[name].pk,
        backoff_failures=control.backoff.failures if control else 0,
        backoff_last_failure_at=moment(control.backoff.last_failure) if control else None,
        up_tokens=up.tokens if up else None,
        up_at=moment(up.at) if up else None,
        down_tokens=down.tokens if down else None,
        down_at=moment(down.at) if down else None,
    )
