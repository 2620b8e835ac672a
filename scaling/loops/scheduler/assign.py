"""Which waiting task goes to which READY worker: decided on records, with the planner's own matching and packing.

Order: priority descending, then submitted, then job id. A job takes what fits of it, group after group (preferred
constraints satisfied, priority, name); a gang is placed whole on whole slices of one group or waits. Within a group
slices with work come first, then the ones that fell idle last, so that the longest idle can go. Room only shrinks while
tasks are given out, so a need that found a worker full never looks at it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scaling.autoscaler.demand import DemandEntry, in_order
from scaling.autoscaler.matching import GroupIndex, bits
from scaling.autoscaler.models import Worker
from scaling.autoscaler.packing import Free, after, empty_worker, how_many, owns_workers, worker_room
from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.shapes import UNIT, Need, Shape
from scaling.autoscaler.words import DeviceType


@dataclass(frozen=True, slots=True)
class Place:
    """A READY slice that may get tasks: its workers by database key, all of them, with what is known of each.

    `gang`: the gang that it is kept for, "" for none.
    """

    name: str
    group: str
    workers: Mapping[int, Worker]
    gang: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """`tasks` tasks of a job on one worker, each taking `need`; `devices` is what is booked of each for display."""

    job: str
    place: str
    worker: int
    tasks: int
    need: Need
    devices: float


def assign(
    groups: Iterable[ScalingGroup],
    places: Iterable[Place],
    waiting: Iterable[DemandEntry],
    promised: Mapping[str, str],
    now: float,
    most: int = 1_000_000,
) -> list[Assignment]:
    """The assignments of one round, of `most` tasks (more only to complete a gang).

    `groups` are those that take work; `promised`: the group that buys for a gang. A gang that is promised slices in a
    group waits for them there. A slice kept for a gang takes nothing else while that gang waits.
    """
    entries = [(entry, entry.shape) for entry in in_order(waiting, now) if entry.shape is not None and entry.tasks > 0]
    board = _Board(groups, places, {entry.job_id for entry, shape in entries if shape.gang_tasks})
    found: list[Assignment] = []
    for entry, shape in entries if board.has_room else ():
        if most <= 0:
            break
        placed = board.place(entry, shape, promised.get(entry.job_id), most)
        most -= sum(item.tasks for item in placed)
        found += placed
    return found


@dataclass(slots=True)
class _Host:
    """A worker with room. `gpus`: what is taken of each GPU in use, in the order in which shares are given out.

    `owned`: its first task has all of it.
    """

    worker: int
    place: str
    free: Free
    gpus: list[int]
    owned: bool
    closed: bool = False

    def fits(self, need: Need) -> int:
        """How many tasks of this need have room here."""
        if self.closed:
            return 0
        tasks = how_many(self.free, need)
        return min(tasks, 1) if self.owned else tasks

    def take(self, need: Need, tasks: int) -> None:
        """Book so many tasks (at most what fits)."""
        if self.owned:
            self.closed = True
        elif not need.share:
            self.free = after(self.free, need, tasks)
            self.gpus += [UNIT] * (need.devices * tasks)
        else:
            for _task in range(tasks):
                self._take_share(need.share)
            open_gpus = tuple(sorted(UNIT - taken for taken in self.gpus if taken < UNIT))
            self.free = after(self.free, need._replace(share=0), tasks)._replace(shares=open_gpus)

    def _take_share(self, share: int) -> None:
        """The first GPU in use with room, else a new one: the rule by which stored shares are counted again."""
        for index, taken in enumerate(self.gpus):
            if taken + share <= UNIT:
                self.gpus[index] += share
                return
        self.gpus.append(share)
        self.free = self.free._replace(devices=self.free.devices - 1)


@dataclass(slots=True)
class _Site:
    """A slice with its usable workers; `whole`: every one of its workers is usable."""

    name: str
    gang: str
    hosts: list[_Host]
    whole: bool


@dataclass(slots=True)
class _Yard:
    """What is free in one group. `cursors`: for each need, how many hosts at the front have no room for it.

    `device_hosts`: the hosts that had a device free at the start. In a full cluster that is few of them.
    """

    group: ScalingGroup
    sites: list[_Site] = field(default_factory=list)
    hosts: list[_Host] = field(default_factory=list)
    device_hosts: list[_Host] = field(default_factory=list)
    cursors: dict[Need, int] = field(default_factory=dict)
    too_few: set[tuple[Need, int]] = field(default_factory=set)


class _Board:
    """All free room while a round gives it out."""

    def __init__(self, groups: Iterable[ScalingGroup], places: Iterable[Place], gangs: set[str]) -> None:
        ordered = sorted(groups, key=lambda group: (group.priority, group.name))
        self._index = GroupIndex(ordered)
        self._yards = [_Yard(group) for group in ordered]
        self._bit = {group.name: bit for bit, group in enumerate(ordered)}
        self._candidates: dict[Shape, list[_Yard]] = {}
        for place in sorted(places, key=_fill_order):
            if place.group in self._bit:
                self._add(self._yards[self._bit[place.group]], place, place.gang if place.gang in gangs else "")

    @property
    def has_room(self) -> bool:
        return any(yard.sites for yard in self._yards)

    def place(self, entry: DemandEntry, shape: Shape, promised: str | None, most: int) -> list[Assignment]:
        """What can be placed of one entry, booked; `most` tasks of one that is no gang."""
        yards = self._yards_for(shape)
        if not shape.gang_tasks:
            return self._spread(entry, shape, yards, most)
        if promised is not None:
            yards = [yard for yard in yards if yard.group.name == promised]
        return next((found for yard in yards if (found := self._whole(entry, shape, yard))), [])

    def _add(self, yard: _Yard, place: Place, gang: str) -> None:
        empty, owned = empty_worker(yard.group), owns_workers(yard.group)
        rooms = {pk: _room(worker, empty, owned) for pk, worker in place.workers.items()}
        hosts = [
            _Host(pk, place.name, room, _gpus_in_use(place.workers[pk]), owned)
            for pk, room in rooms.items()
            if room is not None
        ]
        if not hosts:
            return
        whole = len(hosts) == len(place.workers) == yard.group.workers_per_slice
        yard.sites.append(_Site(place.name, gang, hosts, whole))
        if not gang:
            yard.hosts += hosts
            yard.device_hosts += [host for host in hosts if host.free.devices or host.free.shares]

    def _yards_for(self, shape: Shape) -> list[_Yard]:
        """The groups that match and have READY slices, best first."""
        found = self._candidates.get(shape)
        if found is None:
            masks = self._index.preference(shape.preferred, self._index.matches(shape).tier_allows)
            yards = [self._yards[bit] for mask in masks for bit in bits(mask)]
            found = self._candidates[shape] = [yard for yard in yards if yard.sites]
        return found

    def _spread(self, entry: DemandEntry, shape: Shape, yards: Sequence[_Yard], most: int) -> list[Assignment]:
        left, found = min(entry.tasks, most), []
        for yard in yards:
            hosts = yard.device_hosts if shape.need.devices or shape.need.share else yard.hosts
            cursor = yard.cursors.get(shape.need, 0)
            while left and cursor < len(hosts):
                host = hosts[cursor]
                tasks = min(left, host.fits(shape.need))
                if tasks:
                    found.append(_book(entry, shape, yard, host, tasks))
                    left -= tasks
                if left:
                    cursor += 1
            yard.cursors[shape.need] = cursor
        return found

    def _whole(self, entry: DemandEntry, shape: Shape, yard: _Yard) -> list[Assignment]:
        """One task on each worker of whole slices, those kept for this gang first; nothing when they are too few."""
        wanted = entry.tasks // yard.group.workers_per_slice
        kept = [site for site in yard.sites if site.gang == entry.job_id and _takes_gang(site, shape.need)]
        key = (shape.need, wanted - len(kept))
        if entry.tasks % yard.group.workers_per_slice or key in yard.too_few:
            return []
        free = (site for site in yard.sites if not site.gang and _takes_gang(site, shape.need))
        sites = kept[:wanted] + [site for site, _ in zip(free, range(wanted - len(kept)), strict=False)]
        if len(sites) < wanted:
            yard.too_few.add(key)
            return []
        return [_book(entry, shape, yard, host, 1) for site in sites for host in site.hosts]


def _fill_order(place: Place) -> tuple[bool, float, str]:
    """Slices with work first, then the ones that fell idle last."""
    busy = any(worker.active_tasks for worker in place.workers.values())
    idle_since = max((worker.idle_since or 0.0 for worker in place.workers.values()), default=0.0)
    return (not busy, -idle_since, place.name)


def _room(worker: Worker, empty: Free, owned: bool) -> Free | None:
    """What is free on a worker; counted again, old shares may seem to need more GPUs than there are: then none is."""
    room = worker_room(worker, empty, owned)
    if room is not None and worker.used is not None and len(worker.used.gpus) > empty.devices:
        return room._replace(devices=0, shares=())
    return room


def _gpus_in_use(worker: Worker) -> list[int]:
    return [round(share * UNIT) for share in worker.used.gpus] if worker.used else []


def _takes_gang(site: _Site, need: Need) -> bool:
    return site.whole and all(host.fits(need) for host in site.hosts)


def _book(entry: DemandEntry, shape: Shape, yard: _Yard, host: _Host, tasks: int) -> Assignment:
    host.take(shape.need, tasks)
    if shape.device_type is DeviceType.TPU:
        devices = float(yard.group.devices_per_worker)
    else:
        devices = shape.need.devices or shape.need.share / UNIT
    return Assignment(entry.job_id, host.place, host.worker, tasks, shape.need, devices)
