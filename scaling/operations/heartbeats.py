"""A worker's own sign of life: how many tasks are active on it, whoever placed them."""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction

from scaling import clock, feed
from scaling.activity import touch_slices
from scaling.history import Actor
from scaling.models import Slice, Task, Worker
from scaling.operations.changes import find
from scaling.operations.errors import NotFound
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Moment, Whole

logger = logging.getLogger(__name__)

HEARTBEAT_FIELDS = FieldTable(
    [
        Field("active_tasks", Whole(0, 1_000_000), "All tasks building or running on the worker now.", required=True),
        Field("at", Moment(), "When it was counted; null = now."),
    ]
)


@transaction.atomic
def heartbeat(actor: Actor, worker_name: str, active_tasks: int, at: datetime | None = None) -> Worker:
    """Note that the worker lives and how busy it is. No Action: this is a measurement, not an act.

    A heartbeat older than the last one is ignored; one from the future counts as now. A worker that was silent is READY
    again with a whole new idle window. A task that Iris did not place keeps the slice from being released like any
    other.
    """
    given = HEARTBEAT_FIELDS.read({"active_tasks": active_tasks, "at": at})
    worker = _locked(worker_name)
    if worker.slice.state not in Slice.LIVE:
        raise NotFound(f"{worker_name} belongs to {worker.slice.name}, which is {worker.slice.state}")
    now = clock.now()
    counted = min(given["at"] or now, now)
    if worker.heartbeat_at is not None and counted < worker.heartbeat_at:
        return worker
    if worker.state == Worker.State.UNKNOWN:
        logger.info("worker is back", extra={"worker": worker_name, "told_by": actor.name})
    _save(worker, _as_told(worker, given["active_tasks"], now) | {"heartbeat_at": counted})
    return worker


def _locked(name: str) -> Worker:
    """The worker, its slice locked before it: the order in which a cycle locks them."""
    list(Slice.objects.select_for_update().filter(workers__name=name).values_list("pk"))
    return find(Worker, "name", name)


def _as_told(worker: Worker, active: int, now: datetime) -> dict[str, Any]:
    placed = worker.tasks.filter(state__in=Task.ACTIVE).count()
    recovered = worker.state == Worker.State.UNKNOWN
    busy = active > 0 or placed > 0
    idle_since = None if busy else (now if recovered or worker.idle_since is None else worker.idle_since)
    values: dict[str, Any] = {"reported_tasks": max(0, active - placed), "idle_since": idle_since}
    return values | ({"state": Worker.State.READY, "unknown_since": None} if recovered else {})


def _save(worker: Worker, values: dict[str, Any]) -> None:
    changed = {name for name, value in values.items() if getattr(worker, name) != value}
    for name, value in values.items():
        setattr(worker, name, value)
    worker.save(update_fields=list(values))
    if changed - {"heartbeat_at"}:
        _tell_slice(worker)


def _tell_slice(worker: Worker) -> None:
    touch_slices([worker.slice_id])
    told = {"slice": worker.slice.name, "worker": worker.name, "state": worker.state}
    feed.publish(f"slice:{worker.slice.name}", "worker", told)
