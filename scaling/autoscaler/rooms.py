"""The room that is there before anything is planned: on READY slices, on slices in flight, and kept for gangs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scaling.autoscaler.books import Books
from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.models import Slice, SliceState, Worker
from scaling.autoscaler.packing import Free, worker_room
from scaling.autoscaler.room import Bin, Room, Stage

# The scheduler had this long to use room; what it did not use then, it cannot use.
UNUSED_SECONDS = 120.0


@dataclass(slots=True)
class Hold:
    """The slices kept for a gang that its platform accepted only in part, all in one group."""

    plan: GroupPlan
    since: float
    rooms: list[Room] = field(default_factory=list)


def offer_rooms(
    books: Books, plans: Mapping[str, GroupPlan], gangs: Mapping[str, int], by_worker: bool = False
) -> dict[str, Hold]:
    """Fills the READY and in-flight rooms of every group; returns what is kept, by the gang's job id.

    `gangs`: waiting gangs, job id to number of tasks. What a gang no longer waits for, or what is beyond its number of
    slices, serves others. A draining group or slice offers nothing. `by_worker`: tasks are to be given out, so rooms
    name each worker.
    """
    holds: dict[str, Hold] = {}
    for item in sorted(books.slices.values(), key=_offering_order):
        plan = plans.get(item.group)
        if plan is None or item.drain is not None:
            continue
        _count(plan, item)
        if books.control(item.group).drain is not None:
            continue
        room = (
            _ready_room(item, plan, books.now, by_worker)
            if item.state is SliceState.READY
            else _coming_room(item, plan)
        )
        if room is not None and not _keep(holds, books, plan, item, room, gangs):
            plan.offer(room)
    return holds


def _offering_order(item: Slice) -> tuple[bool, float, float, str]:
    """Slices with work first, then those idle the shortest (the longest idle may go); what boots before requests."""
    if item.state is SliceState.READY:
        idle = idle_since(item)
        busy = any(worker.active_tasks for worker in item.workers)
        return (not busy, -(idle if idle is not None else 0.0), 0.0, item.name)
    return (item.state is SliceState.REQUESTING, 0.0, item.created, item.name)


def idle_since(item: Slice) -> float | None:
    """Since when all known workers of a slice have been idle; None while one is busy, or when it is not known."""
    since = -1.0
    known = False
    for worker in item.workers:
        if worker.active_tasks:
            return None
        if worker.unknown_since is not None or worker.missing:
            continue
        at = item.ready_since if worker.idle_since is None else worker.idle_since
        if at is None:
            return None
        since = at if not known else max(since, at)
        known = True
    return since if known else None


def _count(plan: GroupPlan, item: Slice) -> None:
    if item.state is SliceState.READY:
        plan.ready += 1
        plan.busy += any(worker.active_tasks for worker in item.workers)
    elif item.state.in_flight:
        plan.in_flight += 1


def _ready_room(item: Slice, plan: GroupPlan, now: float, by_worker: bool) -> Room | None:
    """Workers in use come first, to be filled up; alike ones are counted, unless each is to be named."""
    found: dict[tuple[bool, bool, Free, int], int] = {}
    for worker in item.workers:
        free = worker_room(worker, plan.empty, plan.owned)
        if free is not None:
            name = worker.index if by_worker else -1
            key = (free == plan.empty, _is_stale(worker, now), free, name)
            found[key] = found.get(key, 0) + 1
    if not found:
        return None
    room = Room(plan.index, Stage.READY, 1, plan.group.workers_per_slice, plan.owned, item)
    room.bins = [Bin(room, free, count, stale, name) for (_, stale, free, name), count in sorted(found.items())]
    return room


def _is_stale(worker: Worker, now: float) -> bool:
    """Whether room has been there for 120 s unused; where its age is not known only the job's own age counts."""
    known = [at for at in (worker.idle_since, worker.freed_at) if at is not None]
    return not known or now - max(known) >= UNUSED_SECONDS


def _coming_room(item: Slice, plan: GroupPlan) -> Room | None:
    if not item.state.in_flight:
        return None
    room = Room(plan.index, Stage.IN_FLIGHT, 1, plan.group.workers_per_slice, plan.owned, item)
    room.bins = [Bin(room, plan.empty, plan.group.workers_per_slice)]
    return room


def _keep(
    holds: dict[str, Hold], books: Books, plan: GroupPlan, item: Slice, room: Room, gangs: Mapping[str, int]
) -> bool:
    """Whether the slice is kept for the gang it was asked for, until the provision timeout."""
    if not is_kept(item, plan.group.provision_timeout, books.now, gangs):
        return False
    since = held_since(item)
    hold = holds.setdefault(item.gang_job, Hold(plan, since))
    if hold.plan is not plan or len(hold.rooms) * plan.group.workers_per_slice >= gangs[item.gang_job]:
        return False
    hold.since = min(hold.since, since)
    hold.rooms.append(room)
    plan.kept.append(room)
    return True


def held_since(item: Slice) -> float:
    return item.created if item.gang_since is None else item.gang_since


def is_kept(item: Slice, provision_timeout: float, now: float, gangs: Mapping[str, int] | Iterable[str]) -> bool:
    """A slice serves its gang alone while that waits, until the provision timeout has passed."""
    return bool(item.gang_job) and item.gang_job in gangs and now - held_since(item) <= provision_timeout
