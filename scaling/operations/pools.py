"""Acts on quota pools: their limit, and the limit that a platform taught."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from scaling.history import Actor, record
from scaling.models import QuotaPool
from scaling.operations import announce
from scaling.operations.acts import ActKind, read_act
from scaling.operations.changes import change, check_version, find_pool
from scaling.operations.errors import OperationRefused
from scaling.operations.group_fields import POOL_FIELDS
from scaling.operations.taking_back import cause_of

_FORGOTTEN = {"learned_limit": None, "learned_at": None}


@transaction.atomic
def set_quota_pool(actor: Actor, name: str, version: int, changes: Mapping[str, Any], reason: str = "") -> QuotaPool:
    """Change fields of `POOL_FIELDS`; what a platform taught is forgotten with any edit."""
    pool = find_pool(name)
    check_version(pool, version)
    reason = read_act(reason=reason)["reason"]
    values = POOL_FIELDS.read(changes)
    if all(getattr(pool, field) == value for field, value in values.items()):
        raise OperationRefused(f"nothing to change: quota pool {name} has these values already")
    return _write(actor, ActKind.SET_QUOTA, pool, values | _FORGOTTEN, reason)


@transaction.atomic
def forget_learned_limit(actor: Actor, name: str, reason: str = "", version: int | None = None) -> QuotaPool:
    """Let the pool's own limit count again before the learned one runs out by itself after 24 h."""
    pool = find_pool(name)
    check_version(pool, version)
    reason = read_act(reason=reason)["reason"]
    if pool.learned_limit is None:
        raise OperationRefused(f"quota pool {name} has no learned limit to forget")
    return _write(actor, ActKind.FORGET_LEARNED_LIMIT, pool, _FORGOTTEN, reason)


def _write(actor: Actor, kind: ActKind, pool: QuotaPool, values: Mapping[str, Any], reason: str) -> QuotaPool:
    before, after = change(pool, values, f"quota pool {pool.name}")
    target, cause = f"quota pool {pool.name}", cause_of(kind)
    record(kind, actor=actor, target=target, reason=reason, before=before, after=after, cause=cause)
    announce.pool(pool)
    return pool
