"""How tasks fit on one worker: cpu, memory, disk and devices (AUTOSCALER section 3, packing).

GPUs are shared by count, a share stays on one GPU; a TPU worker belongs to one task.
"""

from scaling.autoscaler.models import Usage, Worker
from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.shapes import UNIT, Need
from scaling.autoscaler.words import DeviceType

UNLIMITED = 1 << 62


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
