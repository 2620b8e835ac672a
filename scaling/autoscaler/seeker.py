"""What the planner keeps for each shape of entry, and what it says of each entry."""

from collections.abc import Sequence
from itertools import islice

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex, Matches
from scaling.autoscaler.packing import UNLIMITED, how_many
from scaling.autoscaler.room import Bin, Room, Stage
from scaling.autoscaler.shapes import UNIT, Shape

# A room, the tasks it takes, and in a run the number of the first of the slices they take.
Placement = tuple[Room, int, int]


class Seeker:
    """The entries of one shape and age, looking for room.

    `masks` holds by stage, and within by how many preferred constraints are satisfied, the groups still worth a look;
    `past_rooms` says that none is in the first two rounds, `exhausted` that none is at all. `stale_too` is False for
    entries that have waited so long that room unused for as long does not count for them. `home` is the group that took
    the last task, in the round `home_stage`; or it is `opens_in`, where each task takes a new slice whole. `label` is
    how its hints call it (see hints).
    """

    __slots__ = (
        "cursors",
        "exhausted",
        "home",
        "home_stage",
        "label",
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
        self.opens_in: GroupPlan | None = None
        self.home: GroupPlan | None = None
        self.home_stage = Stage.READY
        self.label: tuple[str, int] | None = None

    def cursor(self, stage: Stage, plan: GroupPlan) -> list[int]:
        """[place] before which nothing in the group's bins of this stage fits, and never will again.

        What a smaller need has found too small is too small for this one as well.
        """
        found = self.cursors[stage].get(plan.index)
        if found is None:
            found = self.cursors[stage][plan.index] = [0]
            plan.passed[stage].join(self.size, found, remember=self.stale_too)
        return found

    def gang_cursor(self, stage: Stage, plan: GroupPlan) -> list[int]:
        """[place] before which no room of the group in this stage has whole slices for the gang, and never will."""
        return self.cursors[stage].setdefault(plan.index, [0])

    def per_slice(self, plan: GroupPlan) -> int:
        """How many of its tasks an empty slice takes."""
        found = self.tasks_per_slice.get(plan.index)
        if found is None:
            each = 1 if plan.owned else how_many(plan.empty, self.need)
            found = UNLIMITED if each >= UNLIMITED else each * plan.workers
            self.tasks_per_slice[plan.index] = found
        return found

    def first_fit(self, plan: GroupPlan, stage: Stage, at: int) -> int:
        """The place of the group's first bin, from `at` on, that takes a task; the number of bins when none does.

        The comparisons are spelt out: most bins are too full, and this is where a plan spends its time.
        """
        bins = plan.bins[stage]
        fresh_only = not self.stale_too and stage is Stage.READY
        cpu, memory, disk, devices, share = self.need
        for bin_ in islice(bins, at, None):
            free = bin_.free
            if free[0] >= cpu and free[1] >= memory and free[2] >= disk and free[3] >= devices and bin_.count:
                fits = not share or free[3] or (free[4] and free[4][-1] >= share)
                if (fits or plan.owned) and not (fresh_only and bin_.stale):
                    return at
            at += 1
        return at

    def finds_stale_room(self, plan: GroupPlan) -> bool:
        """Whether the group has READY room for a task that was unused for too long."""
        bins = plan.bins[Stage.READY]
        for at in range(self.stale_cursors.get(plan.index, 0), len(bins)):
            bin_ = bins[at]
            if bin_.stale and bin_.count and (plan.owned or how_many(bin_.free, self.need)):
                self.stale_cursors[plan.index] = at
                return True
        self.stale_cursors[plan.index] = len(bins)
        return False

    def squeeze_in(self, plan: GroupPlan, bin_: Bin) -> bool:
        """Puts one task into a bin of one worker, or of workers that are taken whole; others go the long way."""
        if plan.owned:
            if not bin_.count:
                return False
            bin_.count -= 1
        else:
            cpu, memory, disk, devices, share = self.need
            free_cpu, free_memory, free_disk, free_devices, shares = bin_.free
            if free_cpu < cpu or free_memory < memory or free_disk < disk or free_devices < devices:
                return False
            if share or bin_.count != 1:
                return False
            bin_.free = (free_cpu - cpu, free_memory - memory, free_disk - disk, free_devices - devices, shares)
        room = bin_.room
        room.taken += 1
        plan.assigned += 1
        if bin_.worker >= 0:
            room.land(bin_.worker, 1)
        return True


# What became of one entry: it, its seeker (None when it cannot be meant), the rooms that take its tasks, and how many
# tasks found none. A bare tuple, as there is one for each of 100,000 entries.
Routed = tuple[DemandEntry, Seeker | None, Sequence[Placement], int]
