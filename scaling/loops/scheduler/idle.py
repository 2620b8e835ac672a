"""Who is idle since when: a worker since its last task ended or it became READY, a slice since its last worker is."""

from collections.abc import Mapping
from datetime import datetime

from scaling.loops.scheduler.rows import batches, locked
from scaling.loops.scheduler.seen import SERVING, Seen
from scaling.loops.scheduler.told import Told
from scaling.models import Slice, Worker


def refresh(seen: Seen, came: Mapping[int, int], now: datetime, told: Told) -> None:
    """Write the idle times that changed, of workers and then of their slices.

    A worker that is silent or missing is not idle, so that one that comes back has a whole new window.
    """
    wanted = {
        worker.pk: _idle_since(worker, seen.active.get(worker.pk, 0) + came.get(worker.pk, 0), now)
        for workers in seen.workers.values()
        for worker in workers
    }
    changed = [row for row in seen.slices.values() if _differs(row, seen.workers.get(row.pk, []), wanted)]
    held = locked(Slice.objects.filter(state__in=SERVING), [row.pk for row in changed])
    mine = [row for row in changed if row.pk in held]
    workers = [
        worker for row in mine for worker in seen.workers.get(row.pk, []) if worker.idle_since != wanted[worker.pk]
    ]
    _write_workers(workers, wanted, now)
    _write_slices(mine, seen, wanted)
    for row in mine:
        told.slice_(row.name, seen.group_of(row).name)


def _idle_since(worker: Worker, active: int, now: datetime) -> datetime | None:
    if active or worker.reported_tasks or worker.state != Worker.State.READY:
        return None
    return worker.idle_since or now


def _slice_idle_since(workers: list[Worker], wanted: Mapping[int, datetime | None]) -> datetime | None:
    """The latest of its workers'; None while one is not idle, or none is known."""
    times = [wanted[worker.pk] for worker in workers]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _differs(row: Slice, workers: list[Worker], wanted: Mapping[int, datetime | None]) -> bool:
    if any(worker.idle_since != wanted[worker.pk] for worker in workers):
        return True
    return row.idle_since != _slice_idle_since(workers, wanted)


def _write_workers(workers: list[Worker], wanted: Mapping[int, datetime | None], now: datetime) -> None:
    """An idle time only ever begins now or ends, so two statements do; rows that another holds wait a round."""
    held = locked(Worker.objects.all(), [worker.pk for worker in workers])
    for some in batches([pk for pk in held if wanted[pk] is None]):
        Worker.objects.filter(pk__in=some).update(idle_since=None)
    for some in batches([pk for pk in held if wanted[pk] is not None]):
        Worker.objects.filter(pk__in=some).update(idle_since=now)


def _write_slices(rows: list[Slice], seen: Seen, wanted: Mapping[int, datetime | None]) -> None:
    for row in rows:
        row.idle_since = _slice_idle_since(seen.workers.get(row.pk, []), wanted)
    Slice.objects.bulk_update(rows, ["idle_since"], batch_size=500)
