"""Step 3 of a cycle: demand to groups, in three rounds (AUTOSCALER section 3).

Entries are taken in their order; each is offered free room on READY slices, then slices in flight, then headroom, over
the groups it matches. Room and headroom only shrink while a plan is made, so a group that had nothing for a shape never
has again: every shape keeps a mask of the groups still worth a look and a cursor into their rooms, and one look at an
entry costs next to nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.gangs import place_gang, place_held
from scaling.autoscaler.group_plan import DEMAND, GroupPlan
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import Outcome
from scaling.autoscaler.packing import UNLIMITED, Room, Stage, how_many
from scaling.autoscaler.rooms import UNUSED_SECONDS, Hold
from scaling.autoscaler.seeker import Placement, Routed, Seeker
from scaling.autoscaler.shapes import Shape


class Router:
    """Routes entries over the groups of a plan, which are in the plan's order."""

    def __init__(self, plans: Sequence[GroupPlan], index: GroupIndex, holds: Mapping[str, Hold], now: float) -> None:
        self.plans = plans
        self.index = index
        self.holds = holds
        self.now = now
        self.openings: list[Room] = []
        self._seekers: dict[tuple[int, bool], Seeker] = {}
        self._with_room = {stage: _mask(plans, partial(_has_rooms, stage)) for stage in Stage}
        self._open = _mask(plans, lambda plan: plan.headroom > 0)
        self._opened = 0
        self._backing_off = _mask(plans, lambda plan: plan.evaluation.outcome is Outcome.BACKOFF)

    def route(self, entries: Sequence[DemandEntry]) -> list[Routed]:
        """What becomes of each entry, in the order given (see demand.in_order)."""
        routed = []
        for entry in entries:
            shape, tasks, _ = entry.request
            if shape is None or entry.problem:
                routed.append(Routed(entry, None, (), tasks))
                continue
            seeker = self.seeker(shape, entry.submitted)
            placed: list[Placement] = []
            place = self._place_gang if shape.gang_tasks else self._place
            left = place(tasks, seeker, placed, entry)
            routed.append(Routed(entry, seeker, placed, left))
        return routed

    def seeker(self, shape: Shape, submitted: float | None) -> Seeker:
        is_old = submitted is not None and self.now - submitted >= UNUSED_SECONDS
        found = self._seekers.get((id(shape), is_old))
        if found is None:
            found = self._seekers[id(shape), is_old] = Seeker(shape, self.index, not is_old)
            for stage in (Stage.READY, Stage.IN_FLIGHT):
                found.masks[stage][:] = [mask & self._with_room[stage] for mask in found.masks[stage]]
            found.stale &= self._with_room[Stage.READY]
        return found

    # -- entries that may be split

    def _place(self, left: int, seeker: Seeker, placed: list[Placement], _entry: DemandEntry) -> int:
        for stage in (Stage.READY, Stage.IN_FLIGHT):
            left = self._use_rooms(stage, left, seeker, placed)
            if not left:
                return 0
        return self._use_headroom(left, seeker, placed)

    def _use_rooms(self, stage: Stage, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        masks = seeker.masks[stage]
        for tier, mask in enumerate(masks):
            while mask:
                low = mask & -mask
                plan = self.plans[low.bit_length() - 1]
                left = self._fill(plan, stage, left, seeker, placed)
                if not left:
                    masks[tier] = mask
                    return 0
                mask ^= low
            masks[tier] = 0
        return left

    def _fill(self, plan: GroupPlan, stage: Stage, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        """Puts tasks into the rooms of one group in their order; returns how many are left."""
        rooms, need = plan.rooms[stage], seeker.need
        stale_too = seeker.stale_too or stage is not Stage.READY
        cursor = seeker.cursor(stage, plan.index)
        at, bin_at = cursor
        before = left
        while left and at < len(rooms):
            room = rooms[at]
            came = 0
            while left and bin_at < len(room.bins):
                bin_ = room.bins[bin_at]
                each = 0 if bin_.stale and not stale_too else 1 if plan.owned else how_many(bin_.free, need)
                if not each:
                    bin_at += 1
                    continue
                took = room.put(bin_at, need, left, each)
                came += took
                left -= took
            if came:
                placed.append((room, came))
            if left:
                at, bin_at = at + 1, 0
        cursor[:] = at, bin_at
        plan.assigned += before - left
        return left

    def _use_headroom(self, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        """Room on slices opened before in this plan, then new ones, group by group.

        Where the entry has left unused READY room aside, it opens at most one slice per group.
        """
        at_most_one = self._leaves_room_aside(seeker)
        masks = seeker.masks[Stage.NEW]
        for tier, mask in enumerate(masks):
            passed = 0
            while left:
                low = self._next(mask & ~passed)
                if not low:
                    break
                plan = self.plans[low.bit_length() - 1]
                left = self._fill(plan, Stage.NEW, left, seeker, placed)
                if left and low & self._open:
                    left = self._open_in(plan, left, seeker, placed, at_most_one)
                if left and not low & self._open:
                    mask ^= low
                passed |= low if left else 0
            masks[tier] = mask
        return left

    def _next(self, mask: int) -> int:
        """The first group of a mask with headroom or opened slices; counts the groups in back-off passed by."""
        while True:
            candidates = mask & (self._open | self._opened | self._backing_off)
            low = candidates & -candidates
            if not low & self._backing_off:
                return low
            self._backing_off ^= low
            self.plans[low.bit_length() - 1].backoff_skipped = True

    def _open_in(self, plan: GroupPlan, left: int, seeker: Seeker, placed: list[Placement], at_most_one: bool) -> int:
        wanted = -(-left // seeker.per_slice(plan))
        slices = min(wanted, plan.headroom, 1 if at_most_one else UNLIMITED)
        if slices:
            self.note_opening(plan.open_slices(slices, DEMAND))
            left = self._fill(plan, Stage.NEW, left, seeker, placed)
        if not plan.headroom:
            self._open &= ~(1 << plan.index)
        return left

    def note_opening(self, room: Room) -> None:
        self.openings.append(room)
        self._opened |= 1 << room.group

    def _leaves_room_aside(self, seeker: Seeker) -> bool:
        """Whether there is READY room that would hold a task, were it not unused for too long."""
        while seeker.stale:
            low = seeker.stale & -seeker.stale
            if self._has_stale_room(self.plans[low.bit_length() - 1], seeker):
                return True
            seeker.stale ^= low
        return False

    def _has_stale_room(self, plan: GroupPlan, seeker: Seeker) -> bool:
        rooms = plan.rooms[Stage.READY]
        for at in range(seeker.stale_cursors.get(plan.index, 0), len(rooms)):
            for bin_ in rooms[at].bins:
                if bin_.stale and (plan.owned or how_many(bin_.free, seeker.need)):
                    seeker.stale_cursors[plan.index] = at
                    return True
        return False

    # -- gangs

    def _place_gang(self, left: int, seeker: Seeker, placed: list[Placement], entry: DemandEntry) -> int:
        hold = self.holds.get(entry.job_id)
        if hold is not None:
            return place_held(entry, seeker, hold, placed, self.note_opening)
        for stage in Stage:
            masks = seeker.masks[stage]
            for tier, mask in enumerate(masks):
                while mask:
                    low = self._next(mask) if stage is Stage.NEW else mask & -mask
                    if not low:
                        break
                    plan = self.plans[low.bit_length() - 1]
                    if place_gang(entry, seeker, plan, stage, self.now, placed, self.note_opening):
                        masks[tier] = mask
                        return 0
                    mask ^= low
                masks[tier] = mask
        return left


def _has_rooms(stage: Stage, plan: GroupPlan) -> bool:
    return bool(plan.rooms[stage])


def _mask(plans: Sequence[GroupPlan], holds: Callable[[GroupPlan], bool]) -> int:
    return sum(1 << plan.index for plan in plans if holds(plan))
