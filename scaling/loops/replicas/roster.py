"""Replicas between ticks: what a list cannot tell and an earlier tick knew.

Each stored replica is a row of the columns of `scaling.replica_rows.StoredReplica`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from scaling.replica_rows import stored as stored
from scaling.replicas.deployment import Deployment
from scaling.replicas.replica import Replica, ReplicaClass, classify, since

CRASHED = "crashed"


def with_memory(
    listed: Sequence[Replica], before: Iterable[Sequence[Any]], crashed: Collection[str], fresh_from: float
) -> tuple[Replica, ...]:
    """The listed replicas with what is remembered of them: healthy once, or given up as crashed.

    One whose check is from `fresh_from` or later and good is healthy whatever was: it is left as it is.
    """
    if all(one.healthy and (one.last_health_check or 0) >= fresh_from for one in listed):
        return tuple(listed)
    healthy_once = {row[0] for row in before if row[5]}
    return tuple(_remembered(one, one.id in healthy_once, one.id in crashed, fresh_from) for one in listed)


def _remembered(replica: Replica, was_healthy: bool, crashed: bool, fresh_from: float) -> Replica:
    is_well = replica.healthy and (replica.last_health_check or 0) >= fresh_from
    if crashed and not is_well:
        return replace(replica, status=CRASHED, was_healthy=True)
    return replace(replica, was_healthy=True) if was_healthy and not replica.was_healthy else replica


def to_store(
    replicas: Iterable[Replica], before: Iterable[Sequence[Any]], deployment: Deployment, now: float
) -> list[list[Any]]:
    """The rows to keep; one that is still of its class keeps its `since`."""
    known = {row[0]: row for row in before}
    times = since(deployment, now)
    rows = []
    for one in replicas:
        class_ = classify(one, times).value
        earlier = known.get(one.id)
        from_ = earlier[7] if earlier is not None and earlier[6] == class_ else now
        healthy_once = one.was_healthy or class_ == ReplicaClass.HEALTHY or bool(earlier and earlier[5])
        rows.append([one.id, one.status, one.healthy, one.created, one.last_health_check, healthy_once, class_, from_])
    return rows
