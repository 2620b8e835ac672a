"""Which waiting tasks start on which READY workers now: the planner's own scheduling, in bounded rounds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import ClusterState, GroupControl, ScalingGroup, Slice, Worker
from scaling.autoscaler.scheduling import Start, starts
from scaling.autoscaler.shapes import Shape


def decide(
    groups: Iterable[ScalingGroup],
    controls: Mapping[str, GroupControl],
    slices: Iterable[Slice],
    waiting: Iterable[DemandEntry],
    now: float,
    most: int,
) -> list[Start]:
    """The starts of one round: the first ones of `most` tasks (more only to complete a gang).

    `slices` are the READY ones and, for the gangs they are kept for, those in flight.
    """
    known = {group.name: group for group in groups}
    entries = list(waiting)
    usable = [_usable(item, known[item.group], now) for item in slices if item.group in known]
    kept = _kept_for_their_gangs(usable, known, entries)
    state = ClusterState(groups=known, controls=controls, slices={item.name: item for item in kept})
    return _first(starts(state, entries, now), most)


def _usable(item: Slice, group: ScalingGroup, now: float) -> Slice:
    """The slice as the scheduler may use it.

    - Where a worker is missing the whole slice is about to go: nothing starts on it.
    - Room counts as just freed. That the scheduler leaves long unused room alone is the planner's guess about other
      schedulers; this one would leave jobs waiting beside idle workers, as after a standstill of Iris.
    """
    if any(worker.missing for worker in item.workers):
        return replace(item, workers=())
    workers = tuple(replace(_counted(worker, group), freed_at=now) for worker in item.workers)
    return replace(item, workers=workers)


def _kept_for_their_gangs(
    slices: Iterable[Slice], groups: Mapping[str, ScalingGroup], entries: Iterable[DemandEntry]
) -> list[Slice]:
    """A gang that asks for something else since its slices were bought (or a group edited since) has no claim left."""
    items = list(slices)
    wanted = {item.gang_job for item in items if item.gang_job}
    shapes = {entry.job_id: entry.shape for entry in entries if entry.job_id in wanted} if wanted else {}
    return [
        replace(item, gang_job="")
        if item.gang_job and not _matches(shapes.get(item.gang_job), groups[item.group])
        else item
        for item in items
    ]


def _matches(shape: Shape | None, group: ScalingGroup) -> bool:
    return shape is not None and bool(shape.gang_tasks and GroupIndex([group]).matches(shape).tier_allows)


def _counted(worker: Worker, group: ScalingGroup) -> Worker:
    """Old shares, counted again, may seem to need more GPUs than there are: then nothing more starts there for now."""
    if worker.used is not None and len(worker.used.gpus) > group.devices_per_worker:
        return replace(worker, used=None)
    return worker


def _first(found: list[Start], most: int) -> list[Start]:
    kept: list[Start] = []
    for start in found:
        is_gang = start.entry.shape is not None and start.entry.shape.gang_tasks
        completes = is_gang and kept and kept[-1].entry.job_id == start.entry.job_id
        if most <= 0 and not completes:
            break
        kept.append(start if is_gang else start._replace(tasks=min(start.tasks, most)))
        most -= start.tasks
    return kept
