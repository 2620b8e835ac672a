"""Which deployments have no scaler: one rule for the manager that gives them one and the pages that say so."""

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


def unassigned(now: datetime) -> QuerySet[Scaler]:
    """Those left over: free for longer than any instance needs to take one."""
    long_ago = now - patience()
    over = Q(expires_at__isnull=True) | Q(expires_at__lte=long_ago)
    given_back = Q(free_since__isnull=True) | Q(free_since__lte=long_ago)
    return free(now).filter(over, given_back)
