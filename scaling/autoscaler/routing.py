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

# Half the price of Routed(...), paid once per entry.
_new = tuple.__new__


class Router:
    """Routes entries over the groups of a plan, which are in the plan's order."""

    def __init__(self, plans: Sequence[GroupPlan], index: GroupIndex, holds: Mapping[str, Hold], now: float) -> None:
        self.plans = plans
        self.index = index
        self.holds = holds
        self.now = now
        self.openings: list[Room] = []
        self._young: dict[int, Seeker] = {}
        self._old: dict[int, Seeker] = {}
        self._with_room = {stage: _mask(plans, partial(_has_rooms, stage)) for stage in Stage}
        self._open = _mask(plans, lambda plan: plan.headroom > 0)
        self._opened = 0
        self._backing_off = _mask(plans, lambda plan: plan.evaluation.outcome is Outcome.BACKOFF)

    def route(self, entries: Sequence[DemandEntry]) -> list[Routed]:
        """What becomes of each entry, in the order given (see demand.in_order)."""
        return [self._route(entry) for entry in entries]

    def _route(self, entry: DemandEntry) -> Routed:
        _, _, submitted, (shape, tasks, _), problem = entry
        if shape is None or problem:
            return _new(Routed, (entry, None, (), tasks))
        is_old = submitted is not None and self.now - submitted >= UNUSED_SECONDS
        # By identity: shapes are interned, and hashing one costs more than the rest of this.
        seeker = (self._old if is_old else self._young).get(id(shape)) or self._new_seeker(shape, is_old)
        if seeker.exhausted and not shape.gang_tasks:
            return _new(Routed, (entry, seeker, (), tasks))
        if tasks == 1:
            room = self._next_to_the_last(seeker)
            if room is not None:
                return _new(Routed, (entry, seeker, ((room, 1),), 0))
        placed: list[Placement] = []
        left = self._place_gang(entry, seeker, placed) if shape.gang_tasks else self._place(tasks, seeker, placed)
        return _new(Routed, (entry, seeker, placed, left))

    def _new_seeker(self, shape: Shape, is_old: bool) -> Seeker:
        found = Seeker(shape, self.index, stale_too=not is_old)
        for stage in (Stage.READY, Stage.IN_FLIGHT):
            found.masks[stage][:] = [mask & self._with_room[stage] for mask in found.masks[stage]]
        found.stale &= self._with_room[Stage.READY]
        (self._old if is_old else self._young)[id(shape)] = found
        return found

    # -- entries that may be split

    def _next_to_the_last(self, seeker: Seeker) -> Room | None:
        """Room for one task where the last of its shape went, which the long way would find again."""
        if seeker.hot is not None:
            return seeker.take_one()
        plan = seeker.opens_in
        if plan is None or plan.headroom < 1:
            return None
        room = plan.open_full(1)
        self.openings.append(room)
        return room

    def _place(self, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        if not seeker.past_rooms:
            for stage in (Stage.READY, Stage.IN_FLIGHT):
                left = self._use_rooms(stage, left, seeker, placed)
                if not left:
                    return 0
            seeker.past_rooms = True
        at_most_one = self._leaves_room_aside(seeker)
        left = self._use_headroom(left, seeker, placed, at_most_one)
        if at_most_one:
            # The next entry begins again with the first group, where it may open a slice as well.
            seeker.hot = seeker.opens_in = None
        elif left:
            seeker.exhausted = True
        return left

    def _use_rooms(self, stage: Stage, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        masks = seeker.masks[stage]
        for tier, mask in enumerate(masks):
            while mask:
                low = mask & -mask
                left = self._fill(self.plans[low.bit_length() - 1], stage, left, seeker, placed)
                if not left:
                    masks[tier] = mask
                    return 0
                mask ^= low
            masks[tier] = 0
        return left

    def _fill(self, plan: GroupPlan, stage: Stage, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        """Puts tasks into the rooms of one group in their order; returns how many are left."""
        rooms = plan.rooms[stage]
        if not rooms:
            return left
        cursor = seeker.cursor(stage, plan)
        at, bin_at = cursor
        before, last = left, len(rooms)
        cpu, memory, disk, devices, share = seeker.need
        while at < last:
            bins = rooms[at].bins
            if len(bins) == 1:
                # Most rooms are one worker, and most are too full: seen without a call.
                free = bins[0].free
                if free[0] < cpu or free[1] < memory or free[2] < disk or free[3] < devices:
                    at, bin_at = at + 1, 0
                    continue
                if share and not free[3] and (not free[4] or free[4][-1] < share):
                    at, bin_at = at + 1, 0
                    continue
                if left == 1 and not share and stage and not plan.owned and seeker.squeeze_in(bins[0]):
                    rooms[at].taken += 1
                    seeker.keep_hot(plan, rooms[at], bins[0])
                    placed.append((rooms[at], 1))
                    left = 0
                    break
            came, bin_at = self._fill_room(rooms[at], bin_at, left, seeker, plan)
            if came:
                placed.append((rooms[at], came))
                left -= came
                if not left:
                    break
            at, bin_at = at + 1, 0
        cursor[0], cursor[1] = at, bin_at
        plan.assigned += before - left
        return left

    def _fill_room(self, room: Room, at: int, left: int, seeker: Seeker, plan: GroupPlan) -> tuple[int, int]:
        """How many tasks come into a room, from its bin `at` on, and the bin where that ended."""
        stale_too = seeker.stale_too or room.stage is not Stage.READY
        need, bins, before = seeker.need, room.bins, left
        while at < len(bins):
            bin_ = bins[at]
            each = 0 if bin_.stale and not stale_too else 1 if plan.owned else how_many(bin_.free, need)
            if not each:
                at += 1
                continue
            left -= room.put(at, need, left, each)
            if not left:
                seeker.keep_hot(plan, room, bin_)
                break
        return before - left, at

    def _use_headroom(self, left: int, seeker: Seeker, placed: list[Placement], at_most_one: bool) -> int:
        """Room on slices opened before in this plan, then new ones, group by group.

        An entry that has left unused READY room aside opens `at_most_one` slice per group.
        """
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
        if slices and plan.owned and plan.workers == 1:
            seeker.opens_in = plan
            placed.append((plan.open_full(slices), slices))
            self.openings.append(placed[-1][0])
            left -= slices
        elif slices:
            room = plan.open_slices(slices, DEMAND)
            self.note_opening(room)
            came, bin_at = self._fill_room(room, 0, left, seeker, plan)
            placed.append((room, came))
            # Nothing before it fits, that was looked at first.
            seeker.cursor(Stage.NEW, plan)[:] = len(plan.rooms[Stage.NEW]) - 1, bin_at
            plan.assigned += came
            left -= came
        if not plan.headroom:
            self._open &= ~(1 << plan.index)
        return left

    def note_opening(self, room: Room) -> None:
        """New slices that may have room for others."""
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

    def _place_gang(self, entry: DemandEntry, seeker: Seeker, placed: list[Placement]) -> int:
        hold = self.holds.get(entry.job_id)
        if hold is not None:
            return place_held(entry, seeker, hold, placed, self.note_opening)
        if seeker.exhausted:
            return entry.tasks
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
        seeker.exhausted = True
        return entry.tasks


def _has_rooms(stage: Stage, plan: GroupPlan) -> bool:
    return bool(plan.rooms[stage])


def _mask(plans: Sequence[GroupPlan], holds: Callable[[GroupPlan], bool]) -> int:
    return sum(1 << plan.index for plan in plans if holds(plan))
