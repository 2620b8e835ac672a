"""How much of a cluster is used, free and coming: slices counted by group, and told in devices."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, QuerySet

from iris_web.pages import bars
from scaling.models import Slice

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
    def bar(self) -> bars.Bar:
        held = {name: getattr(self, name) for name in HELD}
        return bars.draw(held, self.maximum, self.blocked, self.minimum)

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


# How many slices of a group there are in each state; READY ones count as BUSY and IDLE.
Counts = dict[str, int]
_NONE: Counts = {}


def amounts(slices: Counts | None, devices: int, minimum: int, maximum: int, blocked: bool) -> Amounts:
    """A group's amounts: its slices by state (see `slice_counts`), times the devices of one slice."""
    get = (_NONE if slices is None else slices).get
    used, free, booting, requesting = get("BUSY", 0), get("IDLE", 0), get("BOOTING", 0), get("REQUESTING", 0)
    leaving = get("DRAINING", 0) + get("TERMINATING", 0)
    headroom = max(0, maximum - used - free - booting - requesting - leaving)
    return Amounts(
        used * devices, free * devices, booting * devices, requesting * devices, leaving * devices,
        0 if blocked else headroom * devices, headroom * devices if blocked else 0,
        minimum * devices, maximum * devices,
    )  # fmt: skip


# What was counted while one page is made, whose parts ask for the same; None outside of one.
_known: ContextVar[list[dict[int, Counts]] | None] = ContextVar("counted_slices", default=None)


@contextmanager
def counting_once() -> Iterator[None]:
    """Within, the slices of the whole cluster are counted once."""
    token = _known.set([])
    try:
        yield
    finally:
        _known.reset(token)


def slice_counts(group_ids: Sequence[int] | None = None) -> dict[int, Counts]:
    """Slices that are not gone per group id, by state; READY ones as BUSY and IDLE. One query."""
    live = Slice.objects.filter(state__in=Slice.LIVE)
    if group_ids is not None:
        return _counted(live.filter(group_id__in=group_ids)) if group_ids else {}
    known = _known.get()
    if known is None:
        return _counted(live)
    if not known:
        known.append(_counted(live))
    return known[0]


def _counted(slices: QuerySet[Slice]) -> dict[int, Counts]:
    counts: dict[int, Counts] = {}
    asked = slices.order_by().values("group_id", "state").annotate(n=Count("*"), idle=Count("idle_since"))
    with connection.cursor() as cursor:
        # Whole numbers and words need none of the ORM's conversions, of thousands of rows.
        cursor.execute(*asked.values_list("group_id", "state", "n", "idle").query.sql_with_params())
        found = cursor.fetchall()
    for group, state, number, idle in found:
        of_group = counts.get(group)
        if of_group is None:
            of_group = counts[group] = {}
        if state == "READY":
            of_group["BUSY"], of_group["IDLE"] = number - idle, idle
        else:
            of_group[state] = number
    return counts
