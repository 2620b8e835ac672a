"""What the planner keeps for each shape of entry, and what it says of each entry."""

from collections.abc import Sequence
from typing import NamedTuple

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex, Matches
from scaling.autoscaler.packing import UNLIMITED, Room, Stage, how_many
from scaling.autoscaler.shapes import Shape

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

    `masks` holds by stage, and within by how many preferred constraints are satisfied, the groups still worth a look.
    `stale_too` is False for entries that have waited so long that room unused for as long does not count for them.
    """

    __slots__ = (
        "cursors",
        "masks",
        "matches",
        "need",
        "shape",
        "stale",
        "stale_cursors",
        "stale_too",
        "tasks_per_slice",
    )

    def __init__(self, shape: Shape, index: GroupIndex, stale_too: bool) -> None:
        self.shape = shape
        self.need = shape.need
        self.stale_too = stale_too
        self.matches: Matches = index.matches(shape)
        tiers = index.preference(shape.preferred, self.matches.tier_allows)
        self.masks: tuple[list[int], list[int], list[int]] = (list(tiers), list(tiers), list(tiers))
        self.stale = 0 if stale_too else self.matches.tier_allows
        self.cursors: dict[tuple[Stage, int], list[int]] = {}
        self.stale_cursors: dict[int, int] = {}
        self.tasks_per_slice: dict[int, int] = {}

    def cursor(self, stage: Stage, index: int) -> list[int]:
        found = self.cursors.get((stage, index))
        if found is None:
            found = self.cursors[stage, index] = [0, 0]
        return found

    def per_slice(self, plan: GroupPlan) -> int:
        """How many of its tasks an empty slice takes."""
        found = self.tasks_per_slice.get(plan.index)
        if found is None:
            each = 1 if plan.owned else how_many(plan.empty, self.need)
            found = UNLIMITED if each >= UNLIMITED else each * plan.group.workers_per_slice
            self.tasks_per_slice[plan.index] = found
        return found
