"""How much of a cluster is used, free and coming: slices counted by group, and told in devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection

from iris_web.pages import bars, words
from scaling.models import Slice
from scaling.once import fact

HELD = ("used", "free", "booting", "requesting", "leaving")


@dataclass(slots=True)
class Amounts:
    """Devices (or slices). `open` and `blocked` are the headroom under max that may, or may not, be bought now."""

    used: int = 0
    free: int = 0
    booting: int = 0
    requesting: int = 0
    leaving: int = 0
    open: int = 0
    blocked: int = 0
    minimum: int = 0
    maximum: int = 0

    @property
    def held(self) -> int:
        return self.used + self.free + self.booting + self.requesting + self.leaving

    @property
    def coming(self) -> int:
        return self.booting + self.requesting

    @property
    def figures(self) -> tuple[int, ...]:
        """All of them in their order: what `Amounts` takes, and what two alike are known by."""
        return (
            self.used, self.free, self.booting, self.requesting, self.leaving,
            self.open, self.blocked, self.minimum, self.maximum,
        )  # fmt: skip

    @property
    def bar(self) -> bars.Bar:
        return _bar((self.used, self.free, self.booting, self.requesting, self.leaving), self.maximum, self.blocked,
                    self.minimum)  # fmt: skip

    @property
    def is_cut(self) -> bool:
        """Whether the bar ends before its max."""
        return bars.is_cut(max(self.held, self.minimum), self.maximum)

    @property
    def told(self) -> str:
        """The bar in words."""
        parts = [f"{words.number(number)} {name}" for name in HELD if (number := getattr(self, name))]
        of = f"{', '.join(parts) or 'nothing held'}, {words.number(self.maximum)} at most"
        blocked = f"; {words.number(self.blocked)} may not be bought now" if self.blocked else ""
        floor = f"; min {words.number(self.minimum)}" if self.minimum else ""
        cut = f"; the bar ends at {words.number(self.bar.scale)}" if self.is_cut else ""
        return f"{of}{floor}{blocked}{cut}"

    def include(self, slices: "SliceCounts", devices: int, minimum: int, maximum: int, blocked: bool) -> None:
        """One group more: its slices, times the devices of one slice."""
        used, free, booting, requesting, leaving = slices
        headroom = maximum - used - free - booting - requesting - leaving
        self.used += used * devices
        self.free += free * devices
        self.booting += booting * devices
        self.requesting += requesting * devices
        self.leaving += leaving * devices
        if headroom > 0:
            if blocked:
                self.blocked += headroom * devices
            else:
                self.open += headroom * devices
        self.minimum += minimum * devices
        self.maximum += maximum * devices

    def add(self, other: "Amounts") -> None:
        self.used += other.used
        self.free += other.free
        self.booting += other.booting
        self.requesting += other.requesting
        self.leaving += other.leaving
        self.open += other.open
        self.blocked += other.blocked
        self.minimum += other.minimum
        self.maximum += other.maximum


# How many slices a group has of each kind, in the order of HELD: used and free are READY, leaving are DRAINING or
# TERMINATING.
SliceCounts = Sequence[int]
NO_SLICES: SliceCounts = (0, 0, 0, 0, 0)
_PLACES = {"BOOTING": 2, "REQUESTING": 3, "DRAINING": 4, "TERMINATING": 4}


def amounts(slices: SliceCounts, devices: int, minimum: int, maximum: int, blocked: bool) -> Amounts:
    """Those of one group; see `Amounts.include`."""
    found = Amounts()
    found.include(slices, devices, minimum, maximum, blocked)
    return found


@lru_cache(4096)
def _bar(held: tuple[int, ...], maximum: int, blocked: int, minimum: int) -> bars.Bar:
    return bars.draw(dict(zip(HELD, held, strict=True)), maximum, blocked, minimum)


# Whole numbers and words need none of the ORM's conversions, of thousands of rows. The states are written out, so that
# SQLite too, which looks at no parameter for it, counts along the index of the slices that are not gone.
_LIVE = ", ".join(f"'{state}'" for state in Slice.LIVE)
_FROM = f"FROM {Slice._meta.db_table} WHERE state IN ({_LIVE})"
_BY_GROUP = f"SELECT group_id, state, COUNT(*), COUNT(idle_since) {_FROM}"
_BY_STATE = f"SELECT state, COUNT(*), COUNT(idle_since) {_FROM} GROUP BY state"


_Counted = list[tuple[int, str, int, int]]


@fact
def read_all_counts() -> _Counted:
    """(group, state, slices, idle ones): thousands of rows where there are thousands of groups."""
    return _rows(f"{_BY_GROUP} GROUP BY group_id, state")


def all_slice_counts() -> dict[int, list[int]]:
    """`slice_counts` of the whole cluster."""
    return _by_group(read_all_counts())


def slice_counts(group_ids: Sequence[int]) -> dict[int, list[int]]:
    """Slices that are not gone by group id, none for a group without one. One query."""
    if not group_ids:
        return {}
    marks = ", ".join(["%s"] * len(group_ids))
    return _by_group(_rows(f"{_BY_GROUP} AND group_id IN ({marks}) GROUP BY group_id, state", group_ids))


def state_counts() -> SliceCounts:
    """`slice_counts` added up: out of all of them where the page has them, else one query of a row for each state."""
    found = [row[1:] for row in read_all_counts()] if read_all_counts.known else _rows(_BY_STATE)
    sums = [0, 0, 0, 0, 0]
    for state, number, idle in found:
        _count(sums, state, number, idle)
    return sums


def _rows(sql: str, given: Sequence[int] = ()) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, list(given))
        found: list[Any] = cursor.fetchall()
    return found


def _by_group(found: _Counted) -> dict[int, list[int]]:
    counts: dict[int, list[int]] = {}
    for group, state, number, idle in found:
        of_group = counts.get(group)
        if of_group is None:
            of_group = counts[group] = [0, 0, 0, 0, 0]
        _count(of_group, state, number, idle)
    return counts


def _count(sums: list[int], state: str, number: int, idle: int) -> None:
    if state == "READY":
        sums[0] += number - idle
        sums[1] += idle
    else:
        sums[_PLACES[state]] += number
