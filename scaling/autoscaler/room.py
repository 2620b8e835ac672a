"""Room for tasks while a plan is made: on slices that are there, and on slices that are planned.

Identical workers are counted, not listed: a bin is a number of workers with the same free room. Within a plan room only
shrinks; that is what makes the planner's cursors right.
"""

from enum import IntEnum
from typing import NamedTuple

from scaling.autoscaler.models import Slice
from scaling.autoscaler.packing import Free, after, how_many
from scaling.autoscaler.shapes import Need


class Stage(IntEnum):
    """The three rounds in which capacity is offered."""

    READY = 0
    IN_FLIGHT = 1
    NEW = 2


class Order(NamedTuple):
    """What planned slices are for; those of a gang are bought together or not at all, and are kept for it."""

    purpose: str
    is_gang: bool = False
    gang_job: str = ""
    gang_since: float | None = None


# A room of planned slices, and how many of them are opened at this point of the plan's order.
Opening = tuple["Room", int]


class Bin:
    """`count` workers of a room with the same free room; `stale`: unused for long (see rooms: 120 seconds).

    `worker` is the index of the one worker meant, where tasks are really given out and not only planned.
    """

    __slots__ = ("count", "free", "room", "stale", "worker")

    def __init__(self, room: "Room", free: Free, count: int, stale: bool = False, worker: int = -1) -> None:
        self.room = room
        self.free = free
        self.count = count
        self.stale = stale
        self.worker = worker


class Room:
    """What is free on `slices` slices of a group that are alike. `group` is its place in the plan's order.

    `slice` is None for slices that are only planned; these have an `order`, and `granted` counts those of them that
    the rates allow now. `taken` counts the tasks this plan puts here. A `run` is slices that one task each has taken
    whole. `landed` lists (worker, tasks) where bins name their workers.
    """

    __slots__ = (
        "bins",
        "granted",
        "group",
        "landed",
        "order",
        "owned",
        "run",
        "slice",
        "slices",
        "stage",
        "taken",
        "workers",
    )

    def __init__(
        self,
        group: int,
        stage: Stage,
        slices: int,
        workers: int,
        owned: bool,
        slice_: Slice | None = None,
        order: Order | None = None,
        run: bool = False,
    ) -> None:
        self.group = group
        self.stage = stage
        self.slice = slice_
        self.slices = slices
        self.workers = workers
        self.owned = owned
        self.order = order
        self.run = run
        self.bins: list[Bin] = []
        self.landed: list[tuple[int, int]] | None = None
        self.taken = 0
        self.granted = 0

    def put(self, bin_: Bin, need: Need, tasks: int, each: int) -> tuple[int, list[Bin]]:
        """Puts up to `tasks` tasks into a bin of it, `each` to a worker.

        Returns how many came in, and the bins of the workers that took them where these are now apart: they come
        before the untouched ones, to be filled up first.
        """
        came = min(tasks, each * bin_.count)
        self.taken += came
        self.land(bin_.worker, came)
        if self.owned:
            bin_.count -= came
        elif bin_.count == 1 or came == each * bin_.count:
            bin_.free = after(bin_.free, need, came // bin_.count)
        else:
            return came, self._split(bin_, need, came, each)
        return came, []

    def _split(self, bin_: Bin, need: Need, tasks: int, each: int) -> list[Bin]:
        full, rest = divmod(tasks, each)
        used = [Bin(self, after(bin_.free, need, each), full, bin_.stale)] if full else []
        if rest:
            used.append(Bin(self, after(bin_.free, need, rest), 1, bin_.stale))
        bin_.count -= full + bool(rest)
        at = self.bins.index(bin_)
        self.bins[at:at] = used
        return used

    def land(self, worker: int, tasks: int) -> None:
        """Notes on which worker tasks come, where it has a name."""
        if worker >= 0:
            if self.landed is None:
                self.landed = []
            self.landed.append((worker, tasks))

    def whole_slices(self, need: Need, stale_too: bool) -> int:
        """How many of its slices can take one task on each of their workers.

        Of planned slices of several workers each, some of them in use, it is not settled which worker is whose: none.
        """
        bins = [bin_ for bin_ in self.bins if bin_.count]
        if sum(bin_.count for bin_ in bins) != self.slices * self.workers:
            return 0
        if self.slices > 1 and len(bins) > 1:
            return sum(bin_.count for bin_ in bins if how_many(bin_.free, need)) if self.workers == 1 else 0
        if not stale_too and all(bin_.stale for bin_ in bins):
            return 0
        fits = self.owned or all(how_many(bin_.free, need) for bin_ in bins)
        return self.slices if fits else 0
