"""What the scheduler reads: the workers of simulated slices that serve, with what runs on them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from scaling import records
from scaling.autoscaler import models as core
from scaling.loops.autoscaler.usage import active_usage
from scaling.models import Group, Slice, Worker
from scaling.platforms.registry import simulated_by

SERVING = (Slice.State.READY, Slice.State.DRAINING)
_IN_FLIGHT = (Slice.State.REQUESTING, Slice.State.BOOTING)

# Reading whole rows of thousands of workers each second would cost more than the decision.
_WORKER_COLUMNS = ("slice_id", "index", "state", "idle_since", "unknown_since", "not_found_count", "reported_tasks")


@dataclass(frozen=True, slots=True)
class Seen:
    """Rows: slices that serve by name, their workers by slice id, active tasks by worker id, groups by id.

    Records: what the decision needs: `ready` slices that may get tasks, and those `coming` that are kept for gangs.
    """

    slices: Mapping[str, Slice]
    workers: Mapping[int, list[Worker]]
    active: Mapping[int, int]
    groups: Mapping[int, Group]
    ready: tuple[core.Slice, ...]
    coming: tuple[core.Slice, ...]

    def worker_id(self, slice_name: str, index: int) -> int:
        """The id of a worker by its slice and its place in it."""
        workers = self.workers[self.slices[slice_name].pk]
        return next(worker.pk for worker in workers if worker.index == index)

    def group_of(self, row: Slice) -> Group:
        return self.groups[row.group_id]


def see(now: datetime) -> Seen:
    """Read it in the caller's transaction."""
    groups = {
        row.pk: row for row in Group.objects.filter(simulated_by("platform")).select_related("platform", "quota_pool")
    }
    serving = _slices(groups, SERVING)
    coming = [row for row in _slices(groups, _IN_FLIGHT) if row.gang]
    workers: defaultdict[int, list[Worker]] = defaultdict(list)
    rows = Worker.objects.filter(simulated_by("slice__platform"), slice__state__in=SERVING)
    for worker in rows.order_by("index").only(*_WORKER_COLUMNS):
        workers[worker.slice_id].append(worker)
    used = active_usage()
    open_ = [row for row in serving if row.state == Slice.State.READY and row.drain_since is None]
    return Seen(
        slices={row.name: row for row in serving},
        workers=workers,
        active={pk: tasks for pk, (tasks, _) in used.items()},
        groups=groups,
        ready=tuple(records.slice_record(row, _workers(workers[row.pk], used), now) for row in open_),
        coming=tuple(records.slice_record(row, (), now) for row in coming),
    )


def _slices(groups: Mapping[int, Group], states: tuple[Slice.State, ...]) -> list[Slice]:
    rows = list(Slice.objects.filter(group__in=groups, state__in=states).order_by())
    for row in rows:
        row.group = groups[row.group_id]
    return rows


def _workers(rows: list[Worker], used: Mapping[int, tuple[int, core.Usage]]) -> list[core.Worker]:
    return [records.worker_record(row, *used.get(row.pk, (0, core.Usage()))) for row in rows]
