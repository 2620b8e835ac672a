"""Activity of workers and slices: ending tasks before their time, and who is idle since when.

Everything here happens in the caller's transaction. Rows are locked in one order everywhere: slices by name, then jobs,
tasks, workers, each by their keys. Who comes the other way round (a scheduler's round has its jobs before it knows the
slices) takes only what is free.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from scaling.models import Slice, Task, Worker

# Ids in one statement; SQLite takes few parameters.
CHUNK = 500
T = TypeVar("T")


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))


def held_tasks(tasks: QuerySet[Task]) -> list[int]:
    """The ids of these tasks, locked in order: two statements that change the same tasks might not agree on one."""
    locked = tasks.select_for_update(no_key=True, of=("self",)).order_by("pk")
    return list(locked.values_list("pk", flat=True))


def end_tasks(tasks: Iterable[int], now: datetime) -> None:
    """Mark tasks as lost: they ended with their work undone. The scheduler notes a second later who fell idle by it."""
    for ids in chunks(sorted(tasks)):
        held = held_tasks(Task.objects.filter(pk__in=ids, state__in=Task.ACTIVE))
        Task.objects.filter(pk__in=held).update(state=Task.State.LOST, ended_at=now)


def end_tasks_of(jobs: Sequence[int], now: datetime, forget: bool = False) -> None:
    """End every active task of these jobs; `forget` removes all their tasks, for jobs that start over."""
    for ids in chunks(sorted(jobs)):
        rows = Task.objects.filter(job_id__in=ids)
        if forget:
            held_tasks(rows)
            rows.delete()
        else:
            end_tasks(rows.filter(state__in=Task.ACTIVE).values_list("pk", flat=True), now)


def forget_workers_of(slices: Sequence[str]) -> None:
    """Remove the workers of slices that are gone (and held by the caller); tasks of theirs ran nowhere any more."""
    for names in chunks(sorted(slices)):
        there = Worker.objects.filter(slice__name__in=names)
        tasks = held_tasks(Task.objects.filter(worker__in=there))
        for ids in chunks(tasks):
            Task.objects.filter(pk__in=ids).update(worker=None)
        held = there.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True)
        Worker.objects.filter(pk__in=list(held)).delete()


def release_workers(workers: Collection[int], now: datetime) -> None:
    """Those that have no activity left are idle from now on, and their slices with the last of them."""
    busy = Task.objects.filter(worker=OuterRef("pk"), state__in=Task.ACTIVE)
    for ids in chunks(sorted(workers)):
        idle = Worker.objects.filter(pk__in=ids, idle_since=None, reported_tasks=0, state=Worker.State.READY)
        idle.filter(~Exists(busy)).update(idle_since=now)
        touch_slices(set(Worker.objects.filter(pk__in=ids).values_list("slice_id", flat=True)))


def touch_slices(slices: Collection[int]) -> None:
    """A slice is idle since the last of its workers fell idle, and not idle while one of them is not."""
    known = Slice.objects.filter(pk__in=slices).annotate(
        workers_there=Count("workers"),
        workers_idle=Count("workers", filter=Q(workers__idle_since__isnull=False)),
        latest=Max("workers__idle_since"),
    )
    changed = []
    for row in known.order_by("pk"):
        idle_since = row.latest if 0 < row.workers_there == row.workers_idle else None
        if row.idle_since != idle_since:
            row.idle_since = idle_since
            changed.append(row)
    Slice.objects.bulk_update(changed, ["idle_since"], batch_size=CHUNK)
