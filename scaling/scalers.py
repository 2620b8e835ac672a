"""Which deployments have no scaler: one rule for all who say so."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from scaling.models import Scaler

REMEDY = "no free scaler: raise LYC_MAX_DEPLOYMENTS or start another instance"


def patience() -> timedelta:
    """Longer than any instance needs to take what is free: a takeover is no news."""
    return timedelta(seconds=2 * settings.LYC.reconcile_interval_seconds + 2)


def free(now: datetime) -> QuerySet[Scaler]:
    """The scalers of deployments that are there, which nobody holds at `now`."""
    nobody = Q(holder="") | Q(expires_at__isnull=True) | Q(expires_at__lte=now)
    return Scaler.objects.filter(nobody, deployment__gone_at=None)


def is_assigned(now: datetime) -> Q:
    """Of a deployment: an instance scales it, or did until just now and another is to take it."""
    long_ago = now - patience()
    return Q(scaler__expires_at__gt=long_ago) | Q(scaler__free_since__gt=long_ago)


def is_unassigned(now: datetime) -> Q:
    """The opposite: its scaler has been free for longer than any instance needs to take it, or there is none."""
    long_ago = now - patience()
    lapsed = Q(scaler__expires_at__isnull=True) | Q(scaler__expires_at__lte=long_ago)
    given_back = Q(scaler__free_since__isnull=True) | Q(scaler__free_since__lte=long_ago)
    return Q(scaler__isnull=True) | (lapsed & given_back)


def assigned(scaler: Scaler | None, now: datetime) -> bool:
    """`is_assigned` of a row that was read."""
    times = (scaler.expires_at, scaler.free_since) if scaler else ()
    return any(time is not None and time > now - patience() for time in times)
