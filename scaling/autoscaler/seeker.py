"""What the planner keeps for each shape of entry, and what it says of each entry."""

from collections.abc import Sequence
from typing import NamedTuple

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex, Matches
from scaling.autoscaler.packing import UNLIMITED, Bin, Room, Stage, how_many
from scaling.autoscaler.shapes import UNIT, Shape

Placement = tuple[Room, int]


class Routed(NamedTuple):
    """What became of one entry: the rooms that take its tasks, and how many tasks found none.

    `seeker` is None for an entry that cannot be meant.
    """

    entry: DemandEntry
    seeker: "Seeker | None"
    placed: Sequence[Placement]
    left: int


class Seeker:
    """The entries of one shape and age, looking for room.

    `masks` holds by stage, and within by how many preferred constraints are satisfied, the groups still worth a look;
    `past_rooms` says that none is in the first two rounds, `exhausted` that none is at all. `stale_too` is False for
    entries that have waited so long that room unused for as long does not count for them. Two short ways for entries
    of one task: `hot` is the bin that took the last task and may take the next; `opens_in` is the group whose slices
    take one task each, and that has taken the last.
    """

    __slots__ = (
        "cursors",
        "exhausted",
        "hot",
        "hot_plan",
        "hot_room",
        "masks",
        "matches",
        "need",
        "opens_in",
        "past_rooms",
        "shape",
        "size",
        "stale",
        "stale_cursors",
        "stale_too",
        "tasks_per_slice",
    )

    def __init__(self, shape: Shape, index: GroupIndex, stale_too: bool) -> None:
        self.shape = shape
        self.need = need = shape.need
        self.size = (need.cpu, need.memory, need.disk, need.devices * UNIT + need.share)
        self.stale_too = stale_too
        self.matches: Matches = index.matches(shape)
        tiers = index.preference(shape.preferred, self.matches.tier_allows)
        self.masks: tuple[list[int], list[int], list[int]] = (list(tiers), list(tiers), list(tiers))
        self.past_rooms = False
        self.exhausted = False
        self.stale = 0 if stale_too else self.matches.tier_allows
        self.cursors: tuple[dict[int, list[int]], ...] = ({}, {}, {})
        self.stale_cursors: dict[int, int] = {}
        self.tasks_per_slice: dict[int, int] = {}
        self.hot: Bin | None = None
        self.hot_room: Room | None = None
        self.hot_plan: GroupPlan | None = None
        self.opens_in: GroupPlan | None = None

    def cursor(self, stage: Stage, plan: GroupPlan) -> list[int]:
        """[room, bin] before which nothing in the group's rooms of this stage fits, and never will again.

        What a smaller need has found too small is too small for this one as well.
        """
        found = self.cursors[stage].get(plan.index)
        if found is None:
            found = self.cursors[stage][plan.index] = [0, 0]
            if not self.shape.gang_tasks:
                plan.passed[stage].join(self.size, found, remember=self.stale_too)
        return found

    def per_slice(self, plan: GroupPlan) -> int:
        """How many of its tasks an empty slice takes."""
        found = self.tasks_per_slice.get(plan.index)
        if found is None:
            each = 1 if plan.owned else how_many(plan.empty, self.need)
            found = UNLIMITED if each >= UNLIMITED else each * plan.workers
            self.tasks_per_slice[plan.index] = found
        return found

    def keep_hot(self, plan: GroupPlan, room: Room, bin_: Bin) -> None:
        """The next task may go where the last one went."""
        if bin_.worker < 0 and bin_.count:
            self.hot, self.hot_room, self.hot_plan = bin_, room, plan

    def take_one(self) -> Room | None:
        """Puts one task into the hot bin, if that still has room."""
        bin_, room, plan = self.hot, self.hot_room, self.hot_plan
        if bin_ is None or room is None or plan is None or not bin_.count:
            return None
        if plan.owned:
            bin_.count -= 1
            if not bin_.count:
                room.bins.remove(bin_)
                self.hot = None
        elif not self.squeeze_in(bin_):
            self.hot = None
            return None
        room.taken += 1
        plan.assigned += 1
        return room

    def squeeze_in(self, bin_: Bin) -> bool:
        """Puts one task onto a single worker that others share, if it fits; shares of a GPU go the long way."""
        cpu, memory, disk, devices, share = self.need
        free_cpu, free_memory, free_disk, free_devices, shares = bin_.free
        if free_cpu < cpu or free_memory < memory or free_disk < disk or free_devices < devices:
            return False
        if share or bin_.count != 1:
            return False
        bin_.free = (free_cpu - cpu, free_memory - memory, free_disk - disk, free_devices - devices, shares)
        return True
