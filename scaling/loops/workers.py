"""The workers loop: who has fallen silent, and who is back.

Only workers that send heartbeats themselves can be silent: on a simulated platform, and where no heartbeat ever came,
the platform's listing alone says how a worker is.
"""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from scaling import feed
from scaling.activity import release_workers, touch_slices
from scaling.models import Slice, Worker
from scaling.platforms.registry import simulated_by

logger = logging.getLogger(__name__)

# Workers are asked to send one every 10 s: several lost in a row are silence, one is a blip.
SILENT_AFTER_SECONDS = 45.0


def run(now: datetime) -> None:
    """Mark silent workers UNKNOWN and returned ones READY with a whole new idle window, in one transaction."""
    heard_since = now - timedelta(seconds=SILENT_AFTER_SECONDS)
    with transaction.atomic():
        is_silent = Q(state=Worker.State.READY, heartbeat_at__lt=heard_since)
        is_back = Q(state=Worker.State.UNKNOWN, heartbeat_at__gte=heard_since)
        slices = _locked_slices(_reporting().filter(is_silent | is_back))
        silent = _locked(_reporting().filter(is_silent, slice__in=slices))
        back = _locked(_reporting().filter(is_back, slice__in=slices))
        Worker.objects.filter(pk__in=[worker.pk for worker in silent]).update(
            state=Worker.State.UNKNOWN, unknown_since=now, idle_since=None
        )
        Worker.objects.filter(pk__in=[worker.pk for worker in back]).update(
            state=Worker.State.READY, unknown_since=None, idle_since=None
        )
        release_workers([worker.pk for worker in back], now)
        touch_slices([worker.slice_id for worker in silent])
        _tell(silent, Worker.State.UNKNOWN)
        _tell(back, Worker.State.READY)


def _reporting() -> QuerySet[Worker]:
    return Worker.objects.filter(
        slice__state__in=(Slice.State.READY, Slice.State.DRAINING), heartbeat_at__isnull=False
    ).exclude(simulated_by("slice__platform"))


def _locked_slices(workers: QuerySet[Worker]) -> list[int]:
    """Slices before their workers, by name: the order in which cycles and heartbeats lock them."""
    ids = set(workers.order_by().values_list("slice_id", flat=True))
    return list(Slice.objects.select_for_update().filter(pk__in=ids).order_by("name").values_list("pk", flat=True))


def _locked(workers: QuerySet[Worker]) -> list[Worker]:
    return list(workers.select_related("slice").select_for_update(of=("self",)).order_by("pk"))


def _tell(workers: Iterable[Worker], state: str) -> None:
    told = list(workers)
    for worker in told:
        logger.info("worker changed", extra={"worker": worker.name, "slice": worker.slice.name, "state": state})
    feed.publish_many(
        (f"slice:{worker.slice.name}", "worker", {"slice": worker.slice.name, "worker": worker.name, "state": state})
        for worker in told
    )
