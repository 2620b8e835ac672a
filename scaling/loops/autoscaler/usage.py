"""How much of each worker its placed tasks take, and since when the rest is free."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Max

from scaling.autoscaler.models import Usage
from scaling.models import Task

_WHOLE = 1.0
_SLACK = 1e-9


@dataclass(slots=True)
class _Sum:
    tasks: int = 0
    cpu: float = 0.0
    memory: int = 0
    disk: int = 0
    gpus: list[float] = field(default_factory=list)

    def add(self, cpu: float, memory: int, disk: int, devices: float) -> None:
        self.tasks += 1
        self.cpu += cpu
        self.memory += memory
        self.disk += disk
        if devices >= _WHOLE:
            self.gpus += [_WHOLE] * round(devices)
        elif devices > 0:
            self._share(devices)

    def _share(self, share: float) -> None:
        """A share goes on the fullest GPU in use that has room, as packing gives it out; shares never straddle."""
        fitting = [index for index, taken in enumerate(self.gpus) if taken + share <= _WHOLE + _SLACK]
        if fitting:
            self.gpus[max(fitting, key=self.gpus.__getitem__)] += share
        else:
            self.gpus.append(share)


def active_usage() -> dict[int, tuple[int, Usage]]:
    """By worker row id: how many tasks are active there and what they take; workers without one are absent."""
    sums: defaultdict[int, _Sum] = defaultdict(_Sum)
    rows = (
        Task.objects.filter(state__in=Task.ACTIVE, worker__isnull=False)
        .order_by("id")
        .values_list("worker_id", "cpu", "memory", "disk", "devices")
    )
    for worker, cpu, memory, disk, devices in rows:
        sums[worker].add(cpu, memory, disk, devices)
    return {
        worker: (total.tasks, Usage(total.cpu, total.memory, total.disk, tuple(total.gpus)))
        for worker, total in sums.items()
    }


def freed_since(moment: datetime) -> dict[int, float]:
    """By worker row id: when a task last ended there, of those that ended after `moment`."""
    ended = Task.objects.filter(ended_at__gt=moment, worker__isnull=False).order_by()
    latest = ended.values_list("worker_id").annotate(latest=Max("ended_at"))
    return {worker: at.timestamp() for worker, at in latest}
