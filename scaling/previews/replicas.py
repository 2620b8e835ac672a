"""The next tick of one deployment, decided twice: with its settings as they are, and as an edit would leave them."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings

from scaling import clock
from scaling.models import Deployment, Scaler
from scaling.operations.deployment_fields import effective
from scaling.replica_rows import stored
from scaling.replicas.decide import decide
from scaling.replicas.decision import Decision
from scaling.replicas.memory import ScalerMemory, ZeroBy
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica
from scaling.replicas.stored import memory_from_mapping


@dataclass(frozen=True, slots=True)
class TickPreview:
    """What the next tick does, by both settings: replicas added, and the ids of those stopped. `reason` is the new."""

    add_before: int
    add: int
    stop_before: tuple[str, ...]
    stop: tuple[str, ...]
    desired_before: int | None
    desired: int | None
    reason: str

    @property
    def is_same(self) -> bool:
        return (self.add, self.stop, self.desired) == (self.add_before, self.stop_before, self.desired_before)

    @property
    def scope(self) -> tuple[str, ...]:
        """What the edit adds and stops beyond what would be, as `Preview.scope` tells it."""
        more = self.add - self.add_before
        stops = (quote(one, safe="") for one in self.stop if one not in self.stop_before)
        return (*((f"replicas=+{more}",) if more > 0 else ()), *stops)


def tick_preview(row: Deployment, read: Mapping[str, Any]) -> TickPreview | None:
    """What an edit of EDIT_FIELDS, as read, does to the next tick; None where the latest one could not see replicas.

    Decided on the replicas, the load and the memory of the latest tick, as if it came again now. One query.
    """
    scaler = Scaler.objects.filter(deployment=row).first()
    if scaler is None or scaler.latest.get("healthy") is None:
        return None
    edited = copy(row)
    edited.overrides = {name: value for name, value in {**row.overrides, **read}.items() if value is not None}
    before, after = _decision(row, scaler), _decision(edited, scaler)
    return TickPreview(
        before.add, after.add, tuple(before.stop), tuple(after.stop), before.desired, after.desired, after.reason
    )


def _decision(row: Deployment, scaler: Scaler) -> Decision:
    now = clock.now().timestamp()
    replicas = [
        Replica(one.id, one.status, one.healthy, one.created, one.checked, one.was_healthy)
        for one in stored(scaler.replicas)
    ]
    reading = MetricsReading(_sample(scaler.latest.get("p95_ms"), now), _sample(scaler.latest.get("rps"), now))
    return decide(
        effective(row),
        replicas,
        reading,
        _memory(scaler),
        now,
        tick_seconds=settings.LYC.heartbeat_interval_seconds,
        takes_last=False,
    )


def _memory(scaler: Scaler) -> ScalerMemory:
    """As ticks read it: who holds it at zero is a column of its own."""
    zero_by = ZeroBy(scaler.zero_by).value if scaler.zero_by else None
    return memory_from_mapping({**scaler.memory, "zero_by": zero_by})


def _sample(value: float | None, now: float) -> MetricSample:
    return MetricSample(value, now, int(value is not None))
