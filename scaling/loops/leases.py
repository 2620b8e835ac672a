"""Leases with fencing tokens: one holder at a time, and a stale holder's writes are refused.

Every step is a conditional UPDATE: whoever changed no row came second. Nothing is decided from a row read before.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from scaling.models import Lease


class LeaseLost(Exception):
    """Another holder has taken the lease since; what this holder was about to write must not be written."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that is held until `expires_at`; `token` is larger than that of every holder before."""

    name: str
    holder: str
    token: int
    expires_at: datetime


def hold(name: str, holder: str, ttl_seconds: float, now: datetime) -> Held | None:
    """Take or renew the lease `name` for `ttl_seconds` from `now`; None while somebody else holds it.

    Renewing keeps the token. Taking a free or expired lease, one's own included, gives a larger one. A lease is over
    at its `expires_at` to the microsecond.
    """
    if not holder:
        raise ValueError("holder: expected a name that is not empty")
    expires_at = now + timedelta(seconds=ttl_seconds)
    with transaction.atomic():
        taken = _renew(name, holder, now, expires_at) or _take(name, holder, now, expires_at)
        if not taken:
            # The first holder ever makes the row; of two at once one makes it and both then race for it as usual.
            Lease.objects.bulk_create([Lease(name=name)], ignore_conflicts=True)
            taken = _take(name, holder, now, expires_at)
        if not taken:
            return None
        # The update above locked the row until commit, so this reads what it wrote.
        token = Lease.objects.values_list("token", flat=True).get(name=name)
    return Held(name, holder, token, expires_at)


def _renew(name: str, holder: str, now: datetime, expires_at: datetime) -> bool:
    mine = Lease.objects.filter(name=name, holder=holder, expires_at__gt=now)
    return mine.update(expires_at=expires_at) == 1


def _take(name: str, holder: str, now: datetime, expires_at: datetime) -> bool:
    free = Lease.objects.filter(Q(holder="") | Q(expires_at__isnull=True) | Q(expires_at__lte=now), name=name)
    return free.update(holder=holder, token=F("token") + 1, expires_at=expires_at) == 1


def release(held: Held) -> bool:
    """Give the lease back before it expires; False when it was lost before."""
    mine = Lease.objects.filter(name=held.name, holder=held.holder, token=held.token)
    return mine.update(holder="", expires_at=None) == 1


def end(name: str, holder: str, now: datetime) -> bool:
    """Let the lease of a holder known to be dead run out now; False when it had run out or was not that holder's."""
    return Lease.objects.filter(name=name, holder=holder, expires_at__gt=now).update(expires_at=now) == 1


def fence(name: str, token: int) -> None:
    """Inside a transaction: raise LeaseLost unless `token` is the current one, and keep it current until commit.

    An expired lease that nobody took since still passes: no other holder can have written. The row is locked on
    PostgreSQL; on SQLite every transaction is IMMEDIATE, so its holder is the only writer.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("fence: expected to be called inside a transaction")
    current = Lease.objects.select_for_update().filter(name=name, token=token).exclude(holder="")
    if not current.exists():
        raise LeaseLost(f"lease {name}: token {token} is not the current one")
