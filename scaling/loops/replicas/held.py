"""The scalers that an instance holds: renewed, read, and changed only by whoever holds them still."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from scaling.models import CrashedReplica, Deployment, Scaler
from scaling.operations.deployment_fields import effective
from scaling.replicas.deployment import Deployment as Settings
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.stored import memory_from_mapping


@dataclass(frozen=True, slots=True)
class HeldScaler:
    """One scaler as read: its row with the deployment's, the settings in force, its memory."""

    row: Scaler
    settings: Settings
    memory: ScalerMemory
    crashed: frozenset[str]

    @property
    def deployment(self) -> Deployment:
        return self.row.deployment

    @property
    def id(self) -> str:
        return self.settings.id


def of_instance(instance: str, now: datetime) -> QuerySet[Scaler]:
    """The scalers whose lease the instance holds at `now`."""
    return Scaler.objects.filter(holder=instance, expires_at__gt=now)


def renew(instance: str, now: datetime) -> int:
    """The heartbeat: every lease the instance still holds is good for another term; returns how many."""
    expires_at = now + timedelta(seconds=settings.LYC.scaler_ttl_seconds)
    return of_instance(instance, now).update(expires_at=expires_at)


def read(rows: QuerySet[Scaler]) -> list[HeldScaler]:
    """The scalers with all that a decision takes."""
    crashed: dict[int, set[str]] = {}
    for deployment, replica in CrashedReplica.objects.values_list("deployment_id", "replica_id"):
        crashed.setdefault(deployment, set()).add(replica)
    return list(_held(rows.select_related("deployment").filter(deployment__gone_at=None), crashed))


def _held(rows: QuerySet[Scaler], crashed: dict[int, set[str]]) -> Iterator[HeldScaler]:
    for row in rows:
        gone = frozenset(crashed.get(row.deployment_id, ()))
        yield HeldScaler(row, effective(row.deployment), memory_of(row), gone)


def memory_of(row: Scaler) -> ScalerMemory:
    """The memory in its row; who holds the deployment at zero is a column of its own, which acts write too."""
    stored: dict[str, Any] = {**row.memory, "zero_by": row.zero_by or None}
    return memory_from_mapping(stored)
