"""One group while a plan is made: its room in each round, what it may still open, and what was given to it."""

from dataclasses import dataclass

from scaling.autoscaler.evaluation import Facts
from scaling.autoscaler.models import GroupEvaluation, MarkerKind, Outcome, ScalingGroup
from scaling.autoscaler.packing import empty_worker, how_many, owns_workers
from scaling.autoscaler.room import Bin, Order, Room, Stage
from scaling.autoscaler.shapes import Need

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


Size = tuple[int, int, int, int]


class Passed:
    """How far needs have looked through a list of bins in vain; only the smallest needs are kept."""

    __slots__ = ("_smallest",)

    MOST = 24

    def __init__(self) -> None:
        self._smallest: list[tuple[Size, list[int]]] = []

    def join(self, size: Size, cursor: list[int], remember: bool) -> None:
        """Moves a new cursor as far as any need has come that is nowhere larger.

        `remember`: this need's own cursor, as it moves on, serves others (it may use all the room there is).
        """
        is_smallest = True
        cpu, memory, disk, devices = size
        for (c, m, d, g), (at,) in self._smallest:
            if c <= cpu and m <= memory and d <= disk and g <= devices:
                is_smallest = False
                if at > cursor[0]:
                    cursor[0] = at
        if is_smallest and remember and len(self._smallest) < self.MOST:
            self._smallest.append((size, cursor))


@dataclass(frozen=True, slots=True)
class Standing:
    """How a group stands towards demand that found no room: its outcome now, after what this plan opened."""

    outcome: Outcome
    until: float | None = None


class GroupPlan:
    """Mutable; `index` is the group's place in the plan's order. `rooms`, and all their `bins`, are by Stage."""

    __slots__ = (
        "assigned",
        "backoff_skipped",
        "bins",
        "busy",
        "cost",
        "empty",
        "evaluation",
        "group",
        "in_flight",
        "index",
        "is_open",
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
        "run",
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
        self.is_open = evaluation.outcome is Outcome.AVAILABLE
        self.probing = facts.probing
        self.quota_marked = facts.active(MarkerKind.QUOTA) is not None
        self.probe_used = False
        self.slices_left = facts.capacity_remaining
        self.rooms: tuple[list[Room], list[Room], list[Room]] = ([], [], [])
        self.bins: tuple[list[Bin], list[Bin], list[Bin]] = ([], [], [])
        self.run: Room | None = None
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
    def affordable(self) -> int:
        """Slices that max_slices and the pool still allow, whatever the filter chain says."""
        if self.pool is None:
            return self.slices_left
        return min(self.slices_left, self.pool.left // self.cost)

    @property
    def headroom(self) -> int:
        """Slices that may be opened for demand that can be split, min_slices or buffers."""
        if not self.is_open:
            return 0
        left = self.slices_left if self.pool is None else self.affordable
        if self.probing:
            return 0 if self.probe_used else min(left, 1)
        return left

    def has_headroom_for_gang(self, slices: int) -> bool:
        """A gang is bought whole; where the group is probing, one gang may be the probe."""
        return self.is_open and slices <= self.affordable and not (self.probing and self.probe_used)

    def offer(self, room: Room) -> None:
        """Adds a room to those of its stage."""
        self.rooms[room.stage].append(room)
        self.bins[room.stage].extend(room.bins)

    def withdraw(self, stage: Stage) -> None:
        """Takes all rooms of a stage away."""
        self.rooms[stage].clear()
        self.bins[stage].clear()

    def put(self, stage: Stage, at: int, need: Need, tasks: int, each: int) -> int:
        """Puts up to `tasks` tasks into the bin at a place, `each` to a worker; returns how many came in."""
        bins = self.bins[stage]
        came, apart = bins[at].room.put(bins[at], need, tasks, each)
        if apart:
            bins[at:at] = apart
        self.assigned += came
        return came

    def put_gang(self, room: Room, need: Need, slices: int) -> int:
        """One task on each worker of so many slices of a room (at most its `whole_slices`); returns how many tasks.

        Workers in use come first.
        """
        left = slices * self.workers
        for bin_ in list(room.bins):
            if left and bin_.count and (self.owned or how_many(bin_.free, need)):
                came, apart = room.put(bin_, need, left, 1)
                left -= came
                if apart:
                    bins = self.bins[room.stage]
                    at = bins.index(bin_)
                    bins[at:at] = apart
        self.assigned += slices * self.workers
        return slices * self.workers

    def open_slices(self, slices: int, order: Order) -> Room:
        """Plans so many new slices; the caller has looked at the headroom."""
        self._take_headroom(slices, beyond_demand=order is FLOOR or order is BUFFER)
        self.run = None
        room = Room(self.index, Stage.NEW, slices, self.workers, self.owned, None, order)
        room.bins.append(Bin(room, self.empty, slices * room.workers))
        self.offer(room)
        return room

    def open_full(self, tasks: int) -> Room:
        """Plans so many new slices of one worker each, all taken by these tasks at once: nothing is left on them."""
        self._take_headroom(tasks, beyond_demand=False)
        run = self.run
        if run is None:
            run = self.run = Room(self.index, Stage.NEW, 0, 1, True, None, DEMAND, run=True)
        run.slices += tasks
        run.taken += tasks
        self.assigned += tasks
        return run

    def open_one(self) -> Room | None:
        """`open_full` for one task if there is headroom, in the fewest steps: every entry of one task may come here."""
        run = self.run
        if run is None or self.probing or self.pool is not None or not self.is_open:
            return self.open_full(1) if self.headroom else None
        if self.slices_left < 1:
            return None
        self.slices_left -= 1
        self.opened += 1
        self.assigned += 1
        run.slices += 1
        run.taken += 1
        return run

    def _take_headroom(self, slices: int, beyond_demand: bool) -> None:
        self.slices_left -= slices
        if self.pool is not None:
            self.pool.left -= slices * self.cost
        self.probe_used = True
        if beyond_demand:
            self.opened_beyond += slices
        else:
            self.opened += slices

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
        if self._drains:
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
        if not self.is_open:
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
