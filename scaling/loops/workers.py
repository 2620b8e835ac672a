"""The workers loop: who has fallen silent.

Only workers that send heartbeats themselves can be silent: on a simulated platform, and where no heartbeat ever came,
the platform's listing alone says how a worker is. Who is back says so by the heartbeat that ends the silence; who is
UNKNOWN to the platform is not back by reporting, but by a listing that knows it again.
"""

import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Case, QuerySet, When

from scaling import feed
from scaling.activity import touch_slices
from scaling.models import Slice, Worker
from scaling.platforms.registry import simulated_by
from scaling.silence import heard_since, was_away

logger = logging.getLogger(__name__)


def run(now: datetime) -> None:
    """Mark silent workers UNKNOWN, in one transaction; their slices are not idle any more.

    After an absence of Iris's own all of them get their time anew: what it did not hear is no silence of theirs.
    """
    if was_away(now):
        _begin_anew(now)
    with transaction.atomic():
        slices = _locked_slices(_silent(now))
        silent = _locked(_silent(now).filter(slice__in=slices))
        Worker.objects.filter(pk__in=[worker.pk for worker in silent]).update(
            state=Worker.State.UNKNOWN, unknown_since=now, idle_since=None
        )
        touch_slices([worker.slice_id for worker in silent])
        _tell(silent, Worker.State.UNKNOWN)


def _begin_anew(now: datetime) -> None:
    """Who ever sent a heartbeat counts as heard now, and whose silence was under way begins it anew."""
    heard = Worker.objects.filter(heard_at__lt=now)
    if count := heard.update(heard_at=now, unknown_since=Case(When(unknown_since=None, then=None), default=now)):
        logger.info("silence counts anew: Iris was away", extra={"workers": count})


def _silent(now: datetime) -> QuerySet[Worker]:
    return Worker.objects.filter(
        slice__state__in=(Slice.State.READY, Slice.State.DRAINING),
        state=Worker.State.READY,
        heard_at__lt=heard_since(now),
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
