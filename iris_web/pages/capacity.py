"""The capacity picture: what is used, free and booting by device family and zone, and what may still be bought.

Three steps: two queries give one record per group, records add up to places (family × zone), places to a picture whose
bars are whole percent. Amounts are devices (workers where a group has no devices).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Q

from iris_web.pages import families, states, words
from scaling.models import Group, Slice

# Up to this many groups each has a cell of its own; beyond, a place counts its groups by outcome.
MAX_CELLS = 320
# Places shown over all families; each shows its share of them, within these bounds, and counts the rest.
MAX_PLACES = 120
FEWEST_PLACES, MOST_PLACES = 3, 12
_BOOTING = ("REQUESTING", "BOOTING")
_LEAVING = ("DRAINING", "TERMINATING")


@dataclass(slots=True)
class Amounts:
    """Devices. `open` and `blocked` are the headroom under max that may, or may not, be bought now."""

    used: int = 0
    free: int = 0
    booting: int = 0
    leaving: int = 0
    open: int = 0
    blocked: int = 0
    maximum: int = 0

    @property
    def held(self) -> int:
        return self.used + self.free + self.booting + self.leaving

    def add(self, other: "Amounts") -> None:
        self.used += other.used
        self.free += other.free
        self.booting += other.booting
        self.leaving += other.leaving
        self.open += other.open
        self.blocked += other.blocked
        self.maximum += other.maximum


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """One group as the picture sees it."""

    name: str
    device_type: str
    family: str
    zone: str
    outcome: str
    until: datetime | None
    amounts: Amounts
    order: tuple[int, str]

    @property
    def look(self) -> states.Look:
        return states.look("group", self.outcome)

    @property
    def blocked(self) -> bool:
        return self.outcome not in ("AVAILABLE", "")

    @property
    def told(self) -> str:
        """The cell in words: what a pointer or a screen reader gets."""
        amounts = self.amounts
        parts = [f"{words.number(amounts.used)} used", f"{words.number(amounts.free)} free"]
        parts += [f"{words.number(amounts.booting)} booting"] if amounts.booting else []
        of = f"of {words.devices(amounts.maximum, self.device_type)}"
        return f"{self.name}: {self.look.word}, {', '.join(parts)} {of}"


@dataclass(slots=True)
class Place:
    """One family in one zone. The bars are widths in whole percent."""

    zone: str
    groups: list[GroupFacts] = field(default_factory=list)
    amounts: Amounts = field(default_factory=Amounts)
    bars: dict[str, int] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    outcomes: list[tuple[str, int]] = field(default_factory=list)

    @property
    def troubled(self) -> int:
        return sum(group.blocked for group in self.groups)


@dataclass(slots=True)
class Family:
    """One device family with its places."""

    device_type: str
    name: str
    places: list[Place]
    folded: list[Place]
    amounts: Amounts

    @property
    def label(self) -> str:
        return families.label(self.device_type, self.name)

    @property
    def word(self) -> str:
        return words.device_word(self.device_type)

    @property
    def folded_troubled(self) -> int:
        return sum(place.troubled for place in self.folded)


@dataclass(slots=True)
class Picture:
    families: list[Family]
    groups: int
    zones: int
    cells: bool
    totals: Amounts

    @property
    def blocked_groups(self) -> int:
        return sum(p.troubled for f in self.families for p in (*f.places, *f.folded))

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        """(outcome, groups), the most frequent first: the legend of the cells."""
        counted: Counter[str] = Counter()
        for family in self.families:
            for place in (*family.places, *family.folded):
                counted.update(dict(place.outcomes))
        return counted.most_common()

    @property
    def summary(self) -> str:
        """The picture in one sentence, for those who cannot see it."""
        parts = [
            f"{f.label}: {words.number(f.amounts.used)} used, {words.number(f.amounts.free)} free, "
            f"{words.number(f.amounts.booting)} booting, {words.number(f.amounts.maximum)} at most"
            for f in self.families
        ]
        return ". ".join(parts)


def slice_counts(group_ids: Sequence[int] | None = None) -> dict[int, Counter[str]]:
    """Slices that are not gone per group id, by state; READY ones as BUSY and IDLE. One query."""
    live = Slice.objects.filter(state__in=Slice.LIVE, group__isnull=False)
    if group_ids is not None:
        live = live.filter(group_id__in=group_ids)
    busy = Count("pk", filter=Q(state=Slice.State.READY, idle_since__isnull=True))
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for group, state, number, in_use in (
        live.order_by().values("group_id", "state").annotate(n=Count("pk"), busy=busy)
        .values_list("group_id", "state", "n", "busy")
    ):  # fmt: skip
        if state == Slice.State.READY:
            counts[group].update(BUSY=in_use, IDLE=number - in_use)
        else:
            counts[group][state] += number
    return counts


def read_picture() -> Picture:
    """Two queries, whatever the size of the cluster."""
    counts = slice_counts()
    rows = Group.objects.order_by("priority", "name").values_list(
        "pk", "name", "device_type", "device_variant", "zone", "devices_per_worker", "workers_per_slice", "max_slices",
        "status__outcome", "status__stockout_until", "status__backoff_expires_at",
    )  # fmt: skip
    facts = [
        GroupFacts(
            name, kind, families.family(kind, variant), zone, outcome or "", stockout or backoff,
            _amounts(counts.get(pk, Counter()), max(1, devices) * workers, most, outcome or ""),
            families.order(kind, families.family(kind, variant)),
        )
        for pk, name, kind, variant, zone, devices, workers, most, outcome, stockout, backoff in rows
    ]  # fmt: skip
    return draw(facts)


def _amounts(slices: Counter[str], devices_per_slice: int, max_slices: int, outcome: str) -> Amounts:
    booting = sum(slices[state] for state in _BOOTING)
    leaving = sum(slices[state] for state in _LEAVING)
    headroom = max(0, max_slices - slices["BUSY"] - slices["IDLE"] - booting - leaving)
    blocked = headroom if outcome not in ("AVAILABLE", "") else 0
    plain = (slices["BUSY"], slices["IDLE"], booting, leaving, headroom - blocked, blocked, max_slices)
    return Amounts(*(amount * devices_per_slice for amount in plain))


def draw(facts: Iterable[GroupFacts]) -> Picture:
    """The picture of these groups: families in order, each with its places by zone."""
    by_family: dict[tuple[tuple[int, str], str, str], dict[str, Place]] = defaultdict(dict)
    totals, number, zones = Amounts(), 0, set()
    for group in facts:
        places = by_family[(group.order, group.device_type, group.family)]
        place = places.setdefault(group.zone, Place(group.zone))
        place.groups.append(group)
        place.amounts.add(group.amounts)
        totals.add(group.amounts)
        number += 1
        zones.add(group.zone)
    keys = sorted(by_family)
    share = min(MOST_PLACES, max(FEWEST_PLACES, MAX_PLACES // max(1, len(by_family))))
    drawn = [_family(kind, name, list(by_family[(order, kind, name)].values()), share) for order, kind, name in keys]
    return Picture(drawn, number, len(zones), number <= MAX_CELLS, totals)


def _family(device_type: str, name: str, places: list[Place], share: int) -> Family:
    longest = max((place.amounts.held for place in places), default=0)
    total = Amounts()
    for place in places:
        total.add(place.amounts)
        place.bars = _shares(place.amounts, ("used", "free", "booting", "leaving"), longest)
        place.limits = _shares(place.amounts, ("held", "open", "blocked"), place.amounts.maximum)
        counted = Counter(group.outcome for group in place.groups)
        place.outcomes = sorted(counted.items(), key=lambda pair: (pair[0] == "AVAILABLE", pair[0]))
    places.sort(key=lambda place: place.zone)
    if len(places) > share:
        places.sort(key=lambda place: (-place.troubled, -place.amounts.held, place.zone))
    return Family(device_type, name, places[:share], places[share:], total)


def _shares(amounts: Amounts, names: Sequence[str], whole: int) -> dict[str, int]:
    """Widths in percent of `whole`; what is there at all is at least 1 wide."""
    return {name: _percent(getattr(amounts, name), whole) for name in names}


def _percent(part: int, whole: int) -> int:
    return min(100, max(1, round(100 * part / whole))) if part and whole else 0
