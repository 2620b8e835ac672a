"""The task queue as tests drive it: what waits in it, and running that here instead of in a worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.utils.module_loading import import_string
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from scaling import clock
from scaling.loops import queue
from scaling.loops.registry import LOOPS, LoopSpec
from scaling.loops.tasks import run_loop


def tasks() -> list[dict[str, Any]]:
    """The queued tasks, first queued first."""
    return [unpacked(row) for row in OrmQ.objects.order_by("pk")]


def unpacked(row: OrmQ) -> dict[str, Any]:
    """The task in a row of the queue."""
    task: dict[str, Any] = SignedPackage.loads(row.payload)
    return task


def enqueue_round(name: str, number: int) -> None:
    """Queue the task of a round, due now, as a ticker does."""
    queue.enqueue(run_loop, name, number, clock.now().timestamp())


def rounds() -> list[tuple[str, int]]:
    """(loop, round) of each queued round, first queued first."""
    return [tuple(task["args"][:2]) for task in tasks()]


def run_all() -> int:
    """Take and run every queued task, as a worker would; returns how many there were."""
    rows = list(OrmQ.objects.order_by("pk"))
    for row in rows:
        task = unpacked(row)
        row.delete()
        import_string(task["func"])(*task["args"], **task["kwargs"])
    return len(rows)


@contextmanager
def only_loops(*specs: LoopSpec) -> Iterator[None]:
    """For the block, these are all the loops there are."""
    before = dict(LOOPS)
    LOOPS.clear()
    LOOPS.update({spec.name: spec for spec in specs})
    try:
        yield
    finally:
        LOOPS.clear()
        LOOPS.update(before)
