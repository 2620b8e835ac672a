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
from scaling.autoscaler.packing import how_many
from scaling.autoscaler.room import Opening, Room, Stage
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
        self.openings: list[Opening] = []
        self._young: dict[int, Seeker] = {}
        self._old: dict[int, Seeker] = {}
        self._with_room = {stage: _mask(plans, partial(_has_rooms, stage)) for stage in Stage}
        self._open = _mask(plans, lambda plan: plan.headroom > 0)
        self._opened = 0
        self._backing_off = _mask(plans, lambda plan: plan.evaluation.outcome is Outcome.BACKOFF)
        self._worth_a_look = self._open | self._backing_off

    def route(self, entries: Sequence[DemandEntry]) -> list[Routed]:
        """What becomes of each entry, in the order given (see demand.in_order)."""
        routed: list[Routed] = []
        long_ago = self.now - UNUSED_SECONDS
        for entry in entries:
            _, _, _, (shape, tasks, _), problem, since = entry
            if shape is None or problem:
                routed.append((entry, None, (), tasks))
                continue
            # By identity: shapes are interned, and hashing one costs more than the rest of this.
            if since is None or since > long_ago:
                seeker = self._young.get(id(shape)) or self._new_seeker(shape, is_old=False)
            else:
                seeker = self._old.get(id(shape)) or self._new_seeker(shape, is_old=True)
            if seeker.exhausted and not shape.gang_tasks:
                routed.append((entry, seeker, (), tasks))
                continue
            place: Placement | None = None
            if tasks == 1 and seeker.opens_in is not None:
                run = seeker.opens_in.open_one()
                if run is not None:
                    self.openings.append((run, 1))
                    place = (run, 1, run.slices - 1)
            elif tasks == 1 and seeker.home is not None:
                place = self._at_home(seeker, seeker.home)
            if place is not None:
                routed.append((entry, seeker, (place,), 0))
                continue
            placed: list[Placement] = []
            left = self._place_gang(entry, seeker, placed) if shape.gang_tasks else self._place(tasks, seeker, placed)
            routed.append((entry, seeker, placed, left))
        return routed

    def _new_seeker(self, shape: Shape, is_old: bool) -> Seeker:
        found = Seeker(shape, self.index, stale_too=not is_old)
        for stage in (Stage.READY, Stage.IN_FLIGHT):
            found.masks[stage][:] = [mask & self._with_room[stage] for mask in found.masks[stage]]
        found.stale &= self._with_room[Stage.READY]
        found.past_rooms = not any(found.masks[Stage.READY] + found.masks[Stage.IN_FLIGHT])
        (self._old if is_old else self._young)[id(shape)] = found
        return found

    # -- entries that may be split

    def _at_home(self, seeker: Seeker, plan: GroupPlan) -> Placement | None:
        """A place for one task in the group that took the last of its shape; the long way would find the same.

        Groups before it had nothing for the shape and never have again, or it would not have come here.
        """
        stage = seeker.home_stage
        bins, cursor = plan.bins[stage], seeker.cursor(stage, plan)
        at = cursor[0]
        any_bin = seeker.stale_too or stage is not Stage.READY
        if at >= len(bins) or not any_bin or not seeker.squeeze_in(plan, bins[at]):
            at = cursor[0] = seeker.first_fit(plan, stage, at)
            if at >= len(bins):
                if stage is not Stage.NEW or plan.headroom < 1:
                    return None
                self.note_opening(plan.open_slices(1, DEMAND))
            if not seeker.squeeze_in(plan, bins[at]):
                plan.put(stage, at, seeker.need, 1, 1)
        return (bins[at].room, 1, 0)

    def _place(self, left: int, seeker: Seeker, placed: list[Placement]) -> int:
        if not seeker.past_rooms:
            for stage in (Stage.READY, Stage.IN_FLIGHT):
                left = self._use_rooms(stage, left, seeker, placed)
                if not left:
                    return 0
            seeker.past_rooms = True
        at_most_one = seeker.stale != 0 and self._leaves_room_aside(seeker)
        left = self._use_headroom(left, seeker, placed, at_most_one)
        if at_most_one:
            # The next entry begins again with the first group, where it may open a slice as well.
            seeker.home = seeker.opens_in = None
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
        """Puts tasks into the bins of one group in their order; returns how many are left."""
        bins = plan.bins[stage]
        cursor = seeker.cursor(stage, plan)
        at = seeker.first_fit(plan, stage, cursor[0])
        while at < len(bins):
            bin_ = bins[at]
            each = 1 if plan.owned else how_many(bin_.free, seeker.need)
            came = plan.put(stage, at, seeker.need, left, each)
            left -= came
            _note(placed, bin_.room, came)
            if not left:
                seeker.home, seeker.home_stage, seeker.opens_in = plan, stage, None
                break
            at = seeker.first_fit(plan, stage, at)
        cursor[0] = at
        return left

    def _use_headroom(self, left: int, seeker: Seeker, placed: list[Placement], at_most_one: bool) -> int:
        """Room on slices opened before in this plan, then new ones, group by group.

        An entry that has left unused READY room aside opens `at_most_one` slice per group.
        """
        masks = seeker.masks[Stage.NEW]
        for tier, mask in enumerate(masks):
            passed = 0
            while left:
                low = self._next(mask & ~passed if passed else mask)
                if not low:
                    break
                plan = self.plans[low.bit_length() - 1]
                if plan.bins[Stage.NEW]:
                    left = self._fill(plan, Stage.NEW, left, seeker, placed)
                if left and low & self._open:
                    left = self._open_in(plan, left, seeker, placed, at_most_one)
                if not left:
                    break
                if low & self._open:
                    passed |= low
                else:
                    mask ^= low
            masks[tier] = mask
        return left

    def _next(self, mask: int) -> int:
        """The first group of a mask with headroom or opened slices; counts the groups in back-off passed by."""
        while True:
            candidates = mask & self._worth_a_look
            low = candidates & -candidates
            if not low & self._backing_off:
                return low
            self._backing_off ^= low
            self._look_again()
            self.plans[low.bit_length() - 1].backoff_skipped = True

    def _open_in(self, plan: GroupPlan, left: int, seeker: Seeker, placed: list[Placement], at_most_one: bool) -> int:
        wanted = -(-left // seeker.per_slice(plan)) if left > 1 else 1
        slices = min(wanted, plan.headroom, 1 if at_most_one else wanted)
        if slices and plan.owned and plan.workers == 1:
            seeker.opens_in = plan
            run = plan.open_full(slices)
            placed.append((run, slices, run.slices - slices))
            self.openings.append((run, slices))
            left -= slices
        elif slices:
            # Nothing before the new slices fits, that was looked at first.
            seeker.cursor(Stage.NEW, plan)[0] = len(plan.bins[Stage.NEW])
            self.note_opening(plan.open_slices(slices, DEMAND))
            left = self._fill(plan, Stage.NEW, left, seeker, placed)
        if not plan.headroom:
            self._open &= ~(1 << plan.index)
            self._look_again()
        return left

    def note_opening(self, room: Room) -> None:
        """New slices that may have room for others."""
        self.openings.append((room, room.slices))
        if not self._opened >> room.group & 1:
            self._opened |= 1 << room.group
            self._look_again()

    def _look_again(self) -> None:
        self._worth_a_look = self._open | self._opened | self._backing_off

    def _leaves_room_aside(self, seeker: Seeker) -> bool:
        """Whether there is READY room that would hold a task, were it not unused for too long."""
        while seeker.stale:
            low = seeker.stale & -seeker.stale
            if seeker.finds_stale_room(self.plans[low.bit_length() - 1]):
                return True
            seeker.stale ^= low
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


def _note(placed: list[Placement], room: Room, tasks: int) -> None:
    """Bins of one room are told as one place."""
    if placed and placed[-1][0] is room:
        tasks += placed.pop()[1]
    placed.append((room, tasks, 0))


def _has_rooms(stage: Stage, plan: GroupPlan) -> bool:
    return bool(plan.rooms[stage])


def _mask(plans: Sequence[GroupPlan], holds: Callable[[GroupPlan], bool]) -> int:
    return sum(1 << plan.index for plan in plans if holds(plan))
