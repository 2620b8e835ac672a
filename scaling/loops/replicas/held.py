"""The scalers that an instance holds: renewed, read, and changed only by whoever holds them still."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet

from scaling import stored_json
from scaling.models import CrashedReplica, Scaler
from scaling.operations.deployment_fields import effective
from scaling.replicas.deployment import Deployment as Settings
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.stored import memory_from_mapping


class ScalerRow(NamedTuple):
    """The columns of a scaler that a tick reads. Not model instances: there may be five thousand in a tick."""

    pk: int
    deployment_pk: int
    token: int
    memory_version: int
    memory: dict[str, Any]
    zero_by: str
    pending: dict[str, Any] | None
    replicas: list[list[Any]]
    told: str
    told_at: datetime | None
    ticked_at: datetime | None


class DeploymentRow(NamedTuple):
    """The columns of a deployment that a tick reads, named as the model names them."""

    deployment_id: str
    status: str
    min_replicas: int
    max_replicas: int
    target_latency_p95_ms: float | None
    target_rps: float | None
    stabilization_window_seconds: float | None
    cooldown_seconds: float | None
    tolerance: float | None
    scale_up_limit: int | None
    last_request_at: datetime | None
    overrides: dict[str, Any]
    pause_direction: str
    pause_until: datetime | None
    wanted_replicas: int | None
    wanted_until: datetime | None
    wanted_by: str
    wanted_action_id: int | None


_SCALER = len(ScalerRow._fields)
_COLUMNS = (
    *("deployment_id" if name == "deployment_pk" else name for name in ScalerRow._fields),
    *(f"deployment__{name}" for name in DeploymentRow._fields),
)
_JSON = ("memory", "pending", "replicas", "deployment__overrides")
_READ = tuple(stored_json.as_text(name) if name in _JSON else name for name in _COLUMNS)
_JSON_PLACES = tuple(_COLUMNS.index(name) for name in _JSON)


@dataclass(frozen=True, slots=True)
class HeldScaler:
    """One scaler as read, with the settings in force and its memory; `crashed` are replicas given up."""

    row: ScalerRow
    deployment: DeploymentRow
    settings: Settings
    memory: ScalerMemory
    crashed: frozenset[str]

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
    """The scalers with all that a decision takes, in two queries."""
    crashed: dict[int, set[str]] = {}
    for deployment, replica in CrashedReplica.objects.values_list("deployment_id", "replica_id"):
        crashed.setdefault(deployment, set()).add(replica)
    return list(_held(rows.filter(deployment__gone_at=None), crashed))


def _held(rows: QuerySet[Scaler], crashed: dict[int, set[str]]) -> Iterator[HeldScaler]:
    for read_values in rows.values_list(*_READ):
        values = list(read_values)
        for place in _JSON_PLACES:
            values[place] = stored_json.load(values[place])
        row, deployment = ScalerRow(*values[:_SCALER]), DeploymentRow(*values[_SCALER:])
        gone = frozenset(crashed.get(row.deployment_pk, ()))
        yield HeldScaler(row, deployment, effective(deployment), _memory(row), gone)


def _memory(row: ScalerRow) -> ScalerMemory:
    """The memory in its row; who holds the deployment at zero is a column of its own, which acts write too."""
    return memory_from_mapping({**row.memory, "zero_by": row.zero_by or None})
