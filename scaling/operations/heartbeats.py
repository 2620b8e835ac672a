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
from scaling.silence import fell_silent, heard_since

logger = logging.getLogger(__name__)

HEARTBEAT_FIELDS = FieldTable(
    [
        Field(
            "active_tasks",
            Whole(0, 1_000_000),
            "All tasks building or running on the worker now, those that Iris placed too.",
            required=True,
        ),
        Field("at", Moment(), "When it was counted; null = now."),
    ]
)


@transaction.atomic
def heartbeat(actor: Actor, worker_name: str, active_tasks: int, at: datetime | None = None) -> Worker:
    """Note that the worker lives and how busy it is. No Action: this is a measurement, not an act.

    Its life is judged by when the heartbeat is received: the worker's clock may be slow. `at` only tells which of two
    counts is the newer: one that is older than the last, as counts are that overtook each other on their way, is
    ignored; one from the future counts as now. A worker that was silent is READY again with a whole new idle window. A
    task that Iris did not place keeps the slice from being released like any other.
    """
    given = HEARTBEAT_FIELDS.read({"active_tasks": active_tasks, "at": at})
    worker = _locked(worker_name)
    if worker.slice.state not in Slice.LIVE:
        raise NotFound(f"worker {worker_name} belongs to {worker.slice.name}, which is {worker.slice.state}")
    now = clock.now()
    counted = min(given["at"] or now, now)
    was_silent = fell_silent(worker)
    if was_silent:
        logger.info("worker is back", extra={"worker": worker_name, "told_by": actor.name})
    if _is_overtaken(worker, counted, now):
        _save(worker, _as_told(worker, None, was_silent, now) | {"heard_at": now})
    else:
        told = _as_told(worker, given["active_tasks"], was_silent, now)
        _save(worker, told | {"heard_at": now, "heartbeat_at": counted})
    return worker


def _is_overtaken(worker: Worker, counted: datetime, now: datetime) -> bool:
    """A newer count came before it. After a while an older time is that of a clock that was set back."""
    latest = worker.heartbeat_at
    return latest is not None and counted < latest and latest >= heard_since(now)


def _locked(name: str) -> Worker:
    """The worker, its slice locked before it: the order in which a cycle locks them."""
    list(Slice.objects.select_for_update().filter(workers__name=name).values_list("pk"))
    return find(Worker, "name", name)


def _as_told(worker: Worker, active: int | None, was_silent: bool, now: datetime) -> dict[str, Any]:
    """What becomes of the worker with this count; None = the last one stands.

    One that its platform cannot see is not idle, whatever it says: that begins when the platform sees it again.
    """
    placed = worker.tasks.filter(state__in=Task.ACTIVE).count()
    reported = worker.reported_tasks if active is None else max(0, active - placed)
    is_seen = was_silent or worker.state == Worker.State.READY
    busy = bool(active or placed or reported)
    idle_since = (
        None if busy or not is_seen else (now if was_silent or worker.idle_since is None else worker.idle_since)
    )
    values: dict[str, Any] = {"reported_tasks": reported, "idle_since": idle_since}
    return values | ({"state": Worker.State.READY, "unknown_since": None} if was_silent else {})


def _save(worker: Worker, values: dict[str, Any]) -> None:
    changed = {name for name, value in values.items() if getattr(worker, name) != value}
    for name, value in values.items():
        setattr(worker, name, value)
    worker.save(update_fields=list(values))
    if changed - {"heartbeat_at", "heard_at"}:
        _tell_slice(worker)


def _tell_slice(worker: Worker) -> None:
    touch_slices([worker.slice_id])
    told = {"slice": worker.slice.name, "worker": worker.name, "state": worker.state}
    feed.publish(f"slice:{worker.slice.name}", "worker", told)
