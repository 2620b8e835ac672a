"""One group while a plan is made: its room in each round, what it may still open, and what was given to it."""

from dataclasses import dataclass

from scaling.autoscaler.evaluation import Facts
from scaling.autoscaler.models import GroupEvaluation, MarkerKind, Outcome, ScalingGroup
from scaling.autoscaler.packing import Bin, Order, Room, Stage, empty_worker, owns_workers

DEMAND = Order("for waiting tasks")
FLOOR = Order("to keep min_slices")
BUFFER = Order("to keep buffer_slices warm")

# While a group is closed for these reasons, not even the rest of a gang that was accepted in part is asked for.
CLOSED_FOR_GANGS_TOO = frozenset(
    {Outcome.PLATFORM_UNREACHABLE, Outcome.DRAINING, Outcome.PAUSED, Outcome.CREATE_REFUSED}
)


class PoolBalance:
    """What is left of a quota pool while slices are planned, in the pool's units."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Passed:
    """How far needs have looked through a list of rooms in vain; only the smallest needs are kept."""

    __slots__ = ("_smallest",)

    MOST = 24

    def __init__(self) -> None:
        self._smallest: list[tuple[tuple[int, int, int, int], list[int]]] = []

    def join(self, size: tuple[int, int, int, int], cursor: list[int], remember: bool) -> None:
        """Moves a new cursor [room, bin] as far as any need has come that is nowhere larger.

        `remember`: this need's own cursor, as it moves on, serves others (it may use all the room there is).
        """
        is_smallest = True
        cpu, memory, disk, devices = size
        for (c, m, d, g), (room, _) in self._smallest:
            if c <= cpu and m <= memory and d <= disk and g <= devices:
                is_smallest = False
                if room > cursor[0]:
                    cursor[0] = room
        if is_smallest and remember and len(self._smallest) < self.MOST:
            self._smallest.append((size, cursor))


@dataclass(frozen=True, slots=True)
class Standing:
    """How a group stands towards demand that found no room: its outcome now, after what this plan opened."""

    outcome: Outcome
    until: float | None = None


class GroupPlan:
    """Mutable; `index` is the group's place in the plan's order, `rooms` are by Stage."""

    __slots__ = (
        "assigned",
        "backoff_skipped",
        "busy",
        "cost",
        "empty",
        "evaluation",
        "group",
        "in_flight",
        "index",
        "kept",
        "opened",
        "opened_beyond",
        "owned",
        "passed",
        "pool",
        "probe_used",
        "probing",
        "quota_marked",
        "ready",
        "rooms",
        "slices_left",
        "workers",
    )

    def __init__(
        self, index: int, group: ScalingGroup, evaluation: GroupEvaluation, facts: Facts, pool: PoolBalance | None
    ) -> None:
        self.index = index
        self.group = group
        self.evaluation = evaluation
        self.pool = pool
        self.cost = group.slice_cost
        self.workers = group.workers_per_slice
        self.empty = empty_worker(group)
        self.owned = owns_workers(group)
        self.probing = facts.probing
        self.quota_marked = facts.active(MarkerKind.QUOTA) is not None
        self.probe_used = False
        self.slices_left = facts.capacity_remaining
        self.rooms: tuple[list[Room], list[Room], list[Room]] = ([], [], [])
        self.passed = (Passed(), Passed(), Passed())
        self.kept: list[Room] = []  # for gangs
        self.ready = 0  # READY slices, and those of them with work
        self.busy = 0
        self.in_flight = 0
        self.opened = 0  # for demand, and beyond it
        self.opened_beyond = 0
        self.assigned = 0
        self.backoff_skipped = False

    @property
    def open(self) -> bool:
        return self.evaluation.outcome is Outcome.AVAILABLE

    @property
    def affordable(self) -> int:
        """Slices that max_slices and the pool still allow, whatever the filter chain says."""
        if self.pool is None:
            return self.slices_left
        return min(self.slices_left, self.pool.left // self.cost)

    @property
    def headroom(self) -> int:
        """Slices that may be opened for demand that can be split, min_slices or buffers."""
        if not self.open:
            return 0
        if self.probing:
            return 0 if self.probe_used else min(self.affordable, 1)
        return self.affordable

    def has_headroom_for_gang(self, slices: int) -> bool:
        """A gang is bought whole; where the group is probing, one gang may be the probe."""
        return self.open and slices <= self.affordable and not (self.probing and self.probe_used)

    def open_slices(self, slices: int, order: Order) -> Room:
        """Plans so many new slices; the caller has looked at the headroom."""
        room = self._plan_slices(slices, order)
        room.bins.append(Bin(self.empty, slices * room.workers))
        self.rooms[Stage.NEW].append(room)
        return room

    def open_full(self, tasks: int) -> Room:
        """Plans so many new slices of one worker each, all taken by these tasks at once: nothing is left on them."""
        room = self._plan_slices(tasks, DEMAND)
        room.taken = tasks
        self.assigned += tasks
        return room

    def _plan_slices(self, slices: int, order: Order) -> Room:
        self.slices_left -= slices
        if self.pool is not None:
            self.pool.left -= slices * self.cost
        self.probe_used = True
        if order is FLOOR or order is BUFFER:
            self.opened_beyond += slices
        else:
            self.opened += slices
        return Room(self.index, Stage.NEW, slices, self.workers, self.owned, None, order)

    @property
    def used(self) -> int:
        """Slices with work plus slices this plan gives work."""
        ready, in_flight, _ = self.rooms
        woken = sum(1 for room in (*ready, *in_flight, *self.kept) if room.taken and not _is_busy(room))
        return self.busy + woken + self.opened

    @property
    def supply(self) -> int:
        """Slices there or coming that count for the target, with those this plan opens."""
        return self.ready + self.in_flight + self.opened + self.opened_beyond

    @property
    def target(self) -> int:
        group = self.group
        if self.evaluation.outcome is Outcome.DRAINING or self._drains:
            return min(self.used, group.max_slices)
        return min(max(group.min_slices, self.used + group.buffer_slices), group.max_slices)

    @property
    def _drains(self) -> bool:
        return any(check.outcome is Outcome.DRAINING and check.blocked for check in self.evaluation.checks)

    def close(self) -> None:
        """No new slices here, whatever is asked: only what is there serves."""
        self.slices_left = 0

    def standing(self, slices: int = 1) -> Standing:
        """Why so many more slices cannot be opened here; AVAILABLE where they can."""
        if not self.open:
            return Standing(self.evaluation.outcome, self.evaluation.until)
        if self.slices_left < slices:
            return Standing(Outcome.CAPACITY_EXCEEDED)
        if self.affordable < slices:
            return Standing(Outcome.QUOTA_EXCEEDED)
        if self.probing and self.probe_used:
            return Standing(Outcome.PROBING)
        return Standing(Outcome.AVAILABLE)

    def most_slices(self) -> int:
        """The largest gang that could ever be here, in slices: max_slices, or what is there already."""
        return max(self.group.max_slices, self.ready + self.in_flight)


def _is_busy(room: Room) -> bool:
    return room.slice is not None and any(worker.active_tasks for worker in room.slice.workers)
