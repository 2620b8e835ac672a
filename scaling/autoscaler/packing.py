"""How tasks fit on workers: cpu, memory, disk and devices of each worker (AUTOSCALER section 3, packing).

A room is what is free on one slice (or on several alike that are opened together). Identical workers are counted, not
listed: a bin is a number of workers with the same free room. GPUs are shared by count, a share stays on one GPU; a TPU
worker belongs to one task. Within a plan room only shrinks; that is what makes the planner's cursors right.
"""

from enum import IntEnum
from typing import NamedTuple

from scaling.autoscaler.models import Slice, Usage, Worker
from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.shapes import UNIT, Need
from scaling.autoscaler.words import DeviceType

UNLIMITED = 1 << 62


class Stage(IntEnum):
    """The three rounds in which capacity is offered."""

    READY = 0
    IN_FLIGHT = 1
    NEW = 2


# What is free on one worker: millionths of a core, bytes, bytes, whole GPUs, and what partly taken GPUs have left.
# A bare tuple: there are many, and they are looked at very often.
Free = tuple[int, int, int, int, tuple[int, ...]]


def empty_worker(group: ScalingGroup) -> Free:
    """The room of one worker without tasks; 0 in a group's field means unlimited."""
    cpu = round(group.worker_cpu * UNIT) or UNLIMITED
    return (cpu, group.worker_memory or UNLIMITED, group.worker_disk or UNLIMITED, group.devices_per_worker, ())


def owns_workers(group: ScalingGroup) -> bool:
    """Whether a task takes a whole worker, whatever it needs of it."""
    return group.device_type is DeviceType.TPU


def how_many(free: Free, need: Need) -> int:
    """How many tasks of this need fit on a worker with this room."""
    cpu, memory, disk, devices, shares = free
    fit = UNLIMITED
    if need.cpu:
        fit = cpu // need.cpu
    if need.memory and memory // need.memory < fit:
        fit = memory // need.memory
    if need.disk and disk // need.disk < fit:
        fit = disk // need.disk
    if need.devices and devices // need.devices < fit:
        fit = devices // need.devices
    if need.share and fit:
        on_shared = sum(share // need.share for share in shares)
        fit = min(fit, on_shared + devices * (UNIT // need.share))
    return fit


def after(free: Free, need: Need, tasks: int) -> Free:
    """The room that is left when so many tasks (at most `how_many`) have come."""
    cpu, memory, disk, devices, shares = free
    devices -= need.devices * tasks
    if need.share:
        devices, shares = _share_out(devices, shares, need.share, tasks)
    return (cpu - need.cpu * tasks, memory - need.memory * tasks, disk - need.disk * tasks, devices, shares)


def _share_out(devices: int, shares: tuple[int, ...], share: int, tasks: int) -> tuple[int, tuple[int, ...]]:
    """Puts shares where they leave the least: fullest GPUs first, then GPUs not yet in use."""
    left: list[int] = []
    for have in shares:
        here = min(have // share, tasks)
        tasks -= here
        left.append(have - here * share)
    while tasks > 0:
        here = min(UNIT // share, tasks)
        tasks -= here
        devices -= 1
        left.append(UNIT - here * share)
    return devices, tuple(sorted(have for have in left if have > 0))


class Bin:
    """`count` workers with the same room; `stale`: the scheduler had time to use it (see rooms: 120 seconds).

    `worker` is the index of the one worker meant, where tasks are really given out and not only planned.
    """

    __slots__ = ("count", "free", "stale", "worker")

    def __init__(self, free: Free, count: int, stale: bool = False, worker: int = -1) -> None:
        self.free = free
        self.count = count
        self.stale = stale
        self.worker = worker


class Order(NamedTuple):
    """What planned slices are for; those of a gang are bought together or not at all, and are kept for it."""

    purpose: str
    is_gang: bool = False
    gang_job: str = ""
    gang_since: float | None = None


class Room:
    """The free room of `slices` slices of a group that are alike. `group` is its place in the plan's order.

    `slice` is None for slices that are only planned; these have an `order`, and `granted` counts those of them that
    the rates allow now. `taken` counts the tasks this plan puts here. `landed` lists (worker, tasks) where bins name
    their workers.
    """

    __slots__ = ("bins", "granted", "group", "landed", "order", "owned", "slice", "slices", "stage", "taken", "workers")

    def __init__(
        self,
        group: int,
        stage: Stage,
        slices: int,
        workers: int,
        owned: bool,
        slice_: Slice | None = None,
        order: Order | None = None,
    ) -> None:
        self.group = group
        self.stage = stage
        self.slice = slice_
        self.slices = slices
        self.workers = workers
        self.owned = owned
        self.order = order
        self.bins: list[Bin] = []
        self.landed: list[tuple[int, int]] | None = None
        self.taken = 0
        self.granted = 0

    def _note(self, worker: int, tasks: int) -> None:
        if worker >= 0:
            self.landed = [*(self.landed or ()), (worker, tasks)]

    def put(self, index: int, need: Need, tasks: int, each: int) -> int:
        """Puts up to `tasks` tasks into bin `index`, `each` to a worker; returns how many came in."""
        bin_ = self.bins[index]
        came = min(tasks, each * bin_.count)
        self.taken += came
        self._note(bin_.worker, came)
        if self.owned:
            bin_.count -= came
            if not bin_.count:
                del self.bins[index]
        elif bin_.count == 1 or came == each * bin_.count:
            bin_.free = after(bin_.free, need, came // bin_.count)
        else:
            self._split(index, need, came, each)
        return came

    def _split(self, index: int, need: Need, tasks: int, each: int) -> None:
        """Some workers of a bin take the tasks; they come before the untouched ones, to be filled up first."""
        bin_ = self.bins[index]
        full, rest = divmod(tasks, each)
        used = [Bin(after(bin_.free, need, each), full, bin_.stale)] if full else []
        if rest:
            used.append(Bin(after(bin_.free, need, rest), 1, bin_.stale))
        bin_.count -= full + bool(rest)
        self.bins[index:index] = used
        if not bin_.count:
            self.bins.remove(bin_)

    def whole_slices(self, need: Need, stale_too: bool) -> int:
        """How many of its slices can take one task on each of their workers.

        Of planned slices of several workers each, some of them in use, it is not settled which worker is whose: none.
        """
        if sum(bin_.count for bin_ in self.bins) != self.slices * self.workers:
            return 0
        if self.slices > 1 and len(self.bins) > 1:
            return sum(bin_.count for bin_ in self.bins if how_many(bin_.free, need)) if self.workers == 1 else 0
        if not stale_too and all(bin_.stale for bin_ in self.bins):
            return 0
        fits = self.owned or all(how_many(bin_.free, need) for bin_ in self.bins)
        return self.slices if fits else 0

    def put_gang(self, need: Need, slices: int) -> None:
        """One task on each worker of so many of its slices (at most `whole_slices`)."""
        if self.slices > 1 and len(self.bins) > 1:
            self._put_one_each(need, slices)
            return
        tasks = slices * self.workers
        self.taken += tasks
        for bin_ in self.bins:
            self._note(bin_.worker, 1)
        if self.owned:
            self.bins[0].count -= tasks
            self.bins = [bin_ for bin_ in self.bins if bin_.count] if slices < self.slices else []
        elif slices < self.slices:
            self._split(0, need, tasks, 1)
        else:
            for bin_ in self.bins:
                bin_.free = after(bin_.free, need, 1)

    def _put_one_each(self, need: Need, workers: int) -> None:
        """One task on each of so many of its workers, those in use first."""
        at = 0
        while workers:
            if how_many(self.bins[at].free, need):
                workers -= self.put(at, need, workers, 1)
            at += 1


def worker_room(worker: Worker, empty: Free, owned: bool) -> Free | None:
    """What is free on a known worker; None when nothing is, or when it is silent or not found."""
    if worker.unknown_since is not None or worker.missing:
        return None
    if not worker.active_tasks:
        return empty
    if owned or worker.used is None:
        return None
    return _less(empty, worker.used)


def _less(empty: Free, used: Usage) -> Free:
    taken = [round(share * UNIT) for share in used.gpus]
    cpu, memory, disk, devices, _ = empty
    return (
        max(cpu - round(used.cpu * UNIT), 0) if cpu < UNLIMITED else UNLIMITED,
        max(memory - used.memory, 0) if memory < UNLIMITED else UNLIMITED,
        max(disk - used.disk, 0) if disk < UNLIMITED else UNLIMITED,
        max(devices - sum(1 for share in taken if share > 0), 0),
        tuple(sorted(UNIT - share for share in taken if 0 < share < UNIT)),
    )
