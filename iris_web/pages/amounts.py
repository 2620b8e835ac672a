"""How much of a cluster is used, free and coming: slices counted by group, and told in devices."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, QuerySet

from iris_web.pages import bars
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


@fact
def all_slice_counts() -> dict[int, Counts]:
    """`slice_counts` of the whole cluster: thousands of rows where it has thousands of groups."""
    return _counted(Slice.objects.filter(state__in=Slice.LIVE))


def slice_counts(group_ids: Sequence[int]) -> dict[int, Counts]:
    """Slices that are not gone per group id, by state; READY ones as BUSY and IDLE. One query."""
    return _counted(Slice.objects.filter(state__in=Slice.LIVE, group_id__in=group_ids)) if group_ids else {}


def state_counts() -> Counts:
    """`all_slice_counts` added up: out of those where the page has them, else one query of a row for each state."""
    if all_slice_counts.known:
        sums: Counter[str] = Counter()
        for of_group in all_slice_counts().values():
            sums.update(of_group)
        return sums
    rows = Slice.objects.filter(state__in=Slice.LIVE).order_by().values_list("state")
    counts: Counts = {}
    for state, number, idle in rows.annotate(n=Count("*"), idle=Count("idle_since")):
        _count(counts, state, number, idle)
    return counts


def _count(counts: Counts, state: str, number: int, idle: int) -> None:
    if state == "READY":
        counts["BUSY"], counts["IDLE"] = number - idle, idle
    else:
        counts[state] = number


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
        _count(of_group, state, number, idle)
    return counts
