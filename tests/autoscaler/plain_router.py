"""The routing of section 3 as plainly as it can be written: worker by worker, task by task, nothing remembered.

It is what the fast router is held against. It knows nothing of bins, cursors, masks or short ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex, bits
from scaling.autoscaler.packing import Free, after, how_many
from scaling.autoscaler.room import Stage
from scaling.autoscaler.rooms import UNUSED_SECONDS
from scaling.autoscaler.routing import Router
from scaling.autoscaler.shapes import Shape


@dataclass
class PlainWorker:
    free: Free
    stale: bool = False
    taken: bool = False  # a worker that belongs to its task


@dataclass
class PlainGroup:
    """A group with its slices by round, each a list of workers; `left` slices may still be opened."""

    plan: GroupPlan
    pools: dict[int, int]
    left: int
    probe_used: bool
    slices: dict[Stage, list[list[PlainWorker]]]
    assigned: int
    opened: int

    def affordable(self) -> int:
        if self.plan.pool is None:
            return self.left
        return min(self.left, self.pools[id(self.plan.pool)] // self.plan.cost)

    def may_open(self, slices: int) -> bool:
        if not self.plan.is_open or (self.plan.probing and self.probe_used):
            return False
        return slices <= self.affordable()

    def open(self, slices: int) -> None:
        self.left -= slices
        self.probe_used = True
        self.opened += slices
        if self.plan.pool is not None:
            self.pools[id(self.plan.pool)] -= slices * self.plan.cost
        for _ in range(slices):
            self.slices[Stage.NEW].append([PlainWorker(self.plan.empty) for _ in range(self.plan.workers)])


@dataclass
class PlainRouter:
    groups: list[PlainGroup]
    index: GroupIndex
    now: float
    left: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, router: Router) -> "PlainRouter":
        """The same cluster, before anything is routed; must be taken before the fast router begins."""
        pools = {id(plan.pool): plan.pool.left for plan in router.plans if plan.pool is not None}
        groups = [
            PlainGroup(
                plan,
                pools,
                plan.slices_left,
                plan.probe_used,
                {
                    stage: [
                        [PlainWorker(bin_.free, bin_.stale) for bin_ in room.bins for _ in range(bin_.count)]
                        for room in plan.rooms[stage]
                    ]
                    for stage in Stage
                },
                plan.assigned,
                plan.opened,
            )
            for plan in router.plans
        ]
        return cls(groups, router.index, router.now)

    def route(self, entries: Sequence[DemandEntry]) -> list[int]:
        """How many tasks of each entry found no room."""
        return [self._route(entry) for entry in entries]

    def _route(self, entry: DemandEntry) -> int:
        shape = entry.shape
        if shape is None:
            return entry.tasks
        order = [
            self.groups[bit]
            for mask in self.index.preference(shape.preferred, self.index.matches(shape).tier_allows)
            for bit in bits(mask)
        ]
        since = entry.waiting_since
        is_old = since is not None and self.now - since >= UNUSED_SECONDS
        if shape.gang_tasks:
            return self._gang(entry, shape, order, is_old)
        return self._split(entry.tasks, shape, order, is_old)

    # -- entries that may be split

    def _split(self, left: int, shape: Shape, order: list[PlainGroup], is_old: bool) -> int:
        for stage in (Stage.READY, Stage.IN_FLIGHT):
            for group in order:
                left = self._fill(group, stage, left, shape, is_old)
        leaves_room = is_old and any(
            worker.stale and self._fits(group, worker, shape)
            for group in order
            for slice_ in group.slices[Stage.READY]
            for worker in slice_
        )
        for group in order:
            left = self._fill(group, Stage.NEW, left, shape, is_old)
            opened = 0
            while left and group.may_open(1) and not (leaves_room and opened):
                group.open(1)
                opened += 1
                left = self._fill(group, Stage.NEW, left, shape, is_old)
        return left

    def _fill(self, group: PlainGroup, stage: Stage, left: int, shape: Shape, is_old: bool) -> int:
        for slice_ in group.slices[stage]:
            for worker in slice_:
                while left and self._usable(group, worker, shape, stage, is_old):
                    self._put(group, worker, shape)
                    left -= 1
        return left

    def _usable(self, group: PlainGroup, worker: PlainWorker, shape: Shape, stage: Stage, is_old: bool) -> bool:
        return self._fits(group, worker, shape) and not (is_old and worker.stale and stage is Stage.READY)

    @staticmethod
    def _fits(group: PlainGroup, worker: PlainWorker, shape: Shape) -> bool:
        return not worker.taken and how_many(worker.free, shape.need) > 0

    @staticmethod
    def _put(group: PlainGroup, worker: PlainWorker, shape: Shape) -> None:
        worker.taken = group.plan.owned
        worker.free = after(worker.free, shape.need, 1)
        group.assigned += 1

    # -- gangs

    def _gang(self, entry: DemandEntry, shape: Shape, order: list[PlainGroup], is_old: bool) -> int:
        for last in Stage:
            for group in order:
                wanted = entry.tasks // group.plan.workers
                chosen = [
                    slice_
                    for stage in Stage
                    if stage <= last
                    for slice_ in group.slices[stage]
                    if self._is_whole(group, slice_, shape, stage, is_old)
                ][:wanted]
                missing = wanted - len(chosen)
                if missing and (last is not Stage.NEW or not group.may_open(missing)):
                    continue
                if missing:
                    group.open(missing)
                    chosen += group.slices[Stage.NEW][-missing:]
                for slice_ in chosen:
                    for worker in slice_:
                        self._put(group, worker, shape)
                return 0
        return entry.tasks

    def _is_whole(self, group: PlainGroup, slice_: list[PlainWorker], shape: Shape, stage: Stage, is_old: bool) -> bool:
        if len(slice_) != group.plan.workers or (is_old and stage is Stage.READY and all(w.stale for w in slice_)):
            return False
        return all(self._fits(group, worker, shape) for worker in slice_)
