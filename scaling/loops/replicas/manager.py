"""The manager: gives an instance the deployments that no living scaler has, up to its limit."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from scaling import feed
from scaling.loops import instances
from scaling.loops.replicas import held as scalers
from scaling.models import Deployment, Instance, Scaler
from scaling.scalers import free

logger = logging.getLogger("scaling.replicas")


def run(now: datetime, instance: str) -> None:
    """Take what is free, give back what is gone or over the limit."""
    _make_rows()
    most = instances.most_deployments(instance)
    mine = scalers.of_instance(instance, now)
    _give_back(mine, most, instance, now)
    taken = _take(instance, most, now)
    if taken:
        logger.info("scalers taken", extra={"instance": instance, "deployments": len(taken)})
        feed.publish("deployments", "scalers", {"instance": instance, "taken": len(taken)}, at=now)


def _make_rows() -> None:
    """A scaler for each deployment that has none yet."""
    missing = Deployment.objects.filter(gone_at=None, scaler=None)
    Scaler.objects.bulk_create(
        [Scaler(deployment=row, free_since=row.first_seen_at) for row in missing],
        batch_size=500,
        ignore_conflicts=True,
    )


def _give_back(mine: QuerySet[Scaler], most: int, instance: str, now: datetime) -> None:
    """Leases of deployments that are gone, and those above a limit that was lowered."""
    gone = mine.exclude(deployment__gone_at=None)
    gone.filter(holder=instance).update(holder="", expires_at=None, free_since=now)
    surplus = mine.count() - most
    if surplus > 0:
        ids = list(mine.order_by("-pk").values_list("pk", flat=True)[:surplus])
        mine.filter(pk__in=ids).update(holder="", expires_at=None, free_since=now)
        logger.info("scalers given back", extra={"instance": instance, "deployments": len(ids)})


def _take(instance: str, most: int, now: datetime) -> list[int]:
    """Fill the instance up to `most`; each by a conditional update, so that of several instances one gets it."""
    if not free(now).exists():
        return []
    with transaction.atomic():
        # A round that is late and its successor count one after the other, else both would fill the same room.
        Instance.objects.select_for_update().filter(name=instance).first()
        room = most - scalers.of_instance(instance, now).count()
        if room <= 0:
            return []
        rows = free(now).order_by("expires_at", "pk")
        if connection.features.has_select_for_update_skip_locked:
            rows = rows.select_for_update(skip_locked=True, of=("self",))
        ids = list(rows.values_list("pk", flat=True)[:room])
        expires_at = now + timedelta(seconds=settings.LYC.scaler_ttl_seconds)
        still_free = Scaler.objects.filter(Q(holder="") | Q(expires_at__isnull=True) | Q(expires_at__lte=now))
        still_free.filter(pk__in=ids).update(
            holder=instance, token=F("token") + 1, expires_at=expires_at, free_since=None
        )
    return ids
