"""Stores what a cycle decided of slices and their workers: only the fields that changed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from scaling import feed
from scaling.activity import chunks, forget_workers_of
from scaling.autoscaler.models import CycleResult, SliceState
from scaling.autoscaler.models import Slice as Record
from scaling.autoscaler.models import Worker as WorkerRecord
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Slice, Worker
from scaling.moments import moment

_ROWS = 500

# What a listing tells of a worker: state, silent since, listings in a row without it; and its idle time, old and new.
_Health = tuple[str, float | None, int]
_Idle = tuple[float | None, float | None]

# Columns by what fills them. `sent_at`, `attempts` and `next_attempt_at` are the tasks' that ask platforms (see
# `creates` and `deletes`), which find there what is due.
_FIELDS: Mapping[str, Callable[[Record], Any]] = {
    "state": lambda record: record.state.value,
    "ready_at": lambda record: moment(record.ready_since),
    "gang": lambda record: record.gang_job,
    "gang_since": lambda record: moment(record.gang_since),
    "is_probe": lambda record: record.probe,
    "delete_asked_at": lambda record: moment(record.delete_asked_at),
    "not_found_count": lambda record: record.missing,
    "error": lambda record: record.error,
    "drain_since": lambda record: moment(record.drain.since) if record.drain else None,
    "drain_deadline": lambda record: moment(record.drain.deadline) if record.drain else None,
}


def store_slices(result: CycleResult, before: Snapshot, causes: Mapping[str, int]) -> None:
    """`causes`: by slice name the action that a new slice was asked for by."""
    known, after = before.state.slices, result.state.slices
    new = [record for name, record in after.items() if name not in known]
    changed = [record for name, record in after.items() if name in known and known[name] is not record]
    _insert([_row(record, result, before, causes.get(record.name)) for record in new])
    alike: defaultdict[tuple[tuple[str, Any], ...], list[int]] = defaultdict(list)
    for record in changed:
        values = changed_values(known[record.name], record) | _idle_since(known[record.name], record)
        alike[tuple(values.items())].append(before.slices[record.name].pk)
    for told, rows in alike.items():
        _update(Slice, rows, dict(told))
    _end(result, before)
    pks = {row.name: row.pk for row in before.slices.values()} | _pks([record.name for record in new])
    _workers([(known.get(record.name), record) for record in new + changed], pks, before)
    _publish(result, before, new, changed)


def _insert(rows: list[Slice]) -> None:
    """A slice that had ended and is listed again goes on in its old row: an answer was lost, or a create came late.

    It keeps the action that asked for it.
    """
    ended = _pks([row.name for row in rows])
    Slice.objects.bulk_create([row for row in rows if row.name not in ended], batch_size=_ROWS)
    for row in rows:
        if row.name in ended:
            values = {name: getattr(row, name) for name in (*_FIELDS, "answered_at", "next_attempt_at")}
            Slice.objects.filter(pk=ended[row.name]).update(**values, idle_since=None, ended_at=None)


def _row(record: Record, result: CycleResult, before: Snapshot, cause: int | None) -> Slice:
    group = before.groups[record.group]
    values = {name: fill(record) for name, fill in _FIELDS.items()}
    if record.state is SliceState.REQUESTING:
        values["next_attempt_at"] = moment(result.at)
    else:
        # Adopted: the platform had it before we did.
        values["answered_at"] = moment(result.at)
    return Slice(
        name=record.name,
        group=group,
        platform=group.platform,
        requested_at=moment(record.created),
        cause_id=cause,
        **values,
    )


def changed_values(known: Record, record: Record) -> dict[str, Any]:
    """The columns that a plan writes of a slice it knew."""
    values = {name: fill(record) for name, fill in _FIELDS.items() if fill(record) != fill(known)}
    if known.state is SliceState.REQUESTING and record.state is not SliceState.REQUESTING:
        values["next_attempt_at"] = None
        if record.state is not SliceState.FAILED:
            # It was listed before its answer was saved.
            values["answered_at"] = moment(record.sent_at if record.sent_at is not None else record.created)
    if values.get("delete_asked_at") is not None:
        values["next_attempt_at"] = values["delete_asked_at"]
    return values


def _end(result: CycleResult, before: Snapshot) -> None:
    gone = [name for name in result.gone if name in before.slices]
    ended = Slice.objects.filter(name__in=gone)
    ended.filter(state=Slice.State.FAILED).update(ended_at=moment(result.at))
    ended.exclude(state=Slice.State.FAILED).update(state=Slice.State.GONE, ended_at=moment(result.at))
    forget_workers_of(gone)


def _pks(names: list[str]) -> dict[str, int]:
    return dict(Slice.objects.filter(name__in=names).values_list("name", "pk"))


def _workers(pairs: list[tuple[Record | None, Record]], pks: Mapping[str, int], before: Snapshot) -> None:
    new: list[Worker] = []
    seen: defaultdict[_Health, list[int]] = defaultdict(list)
    idle: defaultdict[_Idle, list[int]] = defaultdict(list)
    for known, record in pairs:
        past = {worker.index: worker for worker in known.workers} if known else {}
        for worker in record.workers:
            then = past.get(worker.index)
            if then is None:
                new.append(_worker_row(pks[record.name], record, worker))
            elif then != worker:
                pk = before.workers[record.name, worker.index].pk
                seen[_state(worker), worker.unknown_since, worker.missing].append(pk)
                if then.idle_since != worker.idle_since:
                    idle[then.idle_since, worker.idle_since].append(pk)
    Worker.objects.bulk_create(new, batch_size=_ROWS)
    for (state, unknown_since, missing), rows in seen.items():
        _update(Worker, rows, {"state": state, "unknown_since": moment(unknown_since), "not_found_count": missing})
    for (was, since), rows in idle.items():
        # Activity is the scheduler's: a new idle window is written only where it saw none begin or end meanwhile.
        _update(Worker, rows, {"idle_since": moment(since)}, idle_since=moment(was))


def _update(model: type[Slice] | type[Worker], rows: list[int], values: dict[str, Any], **still: Any) -> None:
    """What many have in common is written in few statements."""
    for ids in chunks(sorted(rows)) if values else ():
        model._default_manager.filter(pk__in=ids, **still).update(**values)


def _worker_row(slice_pk: int, record: Record, worker: WorkerRecord) -> Worker:
    return Worker(
        slice_id=slice_pk,
        name=f"{record.name}-w{worker.index}",
        index=worker.index,
        state=_state(worker),
        unknown_since=moment(worker.unknown_since),
        idle_since=moment(worker.idle_since),
        not_found_count=worker.missing,
    )


def _state(worker: WorkerRecord) -> str:
    if worker.missing:
        return Worker.State.NOT_FOUND
    return Worker.State.UNKNOWN if worker.unknown_since is not None else Worker.State.READY


def _idle_since(known: Record, record: Record) -> dict[str, Any]:
    """A slice's own idle time follows its workers': the latest of them, none while one is busy or silent."""
    if record.workers == known.workers:
        return {}
    idle = [worker.idle_since for worker in record.workers if worker.unknown_since is None]
    whole = len(idle) == len(record.workers) and not any(worker.active_tasks for worker in record.workers)
    since = max((at for at in idle if at is not None), default=None) if whole else None
    return {"idle_since": moment(since)}


def _publish(result: CycleResult, before: Snapshot, new: list[Record], changed: list[Record]) -> None:
    """A new slice has no page that anybody could be on; its group and the lists have."""
    known = before.state.slices
    moved = [record for record in changed if known[record.name].state is not record.state]
    gone = [known[name] for name in result.gone if name in known]
    told = [*((record, record.state.value) for record in moved), *((record, "GONE") for record in gone)]
    feed.publish_many(
        (f"slice:{record.name}", "slice", {"name": record.name, "state": state}) for record, state in told
    )
    counts = Counter(record.group for record in [*new, *moved, *gone])
    feed.publish_many((f"group:{group}", "slices", {"changed": count}) for group, count in sorted(counts.items()))
    if counts:
        feed.publish_many((topic, "slices", {"changed": counts.total()}) for topic in ("slices", "overview"))
