"""The capacity picture: what is used, free and coming by device family and zone, and what may still be bought.

Three steps: two queries give one record per group, records add up to places (family × zone), places to a picture.
Amounts are devices (workers where a group has no devices); each place's bar ends at its own max (see `bars`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlencode

from django.utils.text import slugify

from iris_web.pages import bars, families, states, words
from iris_web.pages.amounts import Amounts, amounts, slice_counts
from iris_web.pages.bars import Bar
from iris_web.pages.halts import Standstill
from scaling import clock
from scaling.models import Group

# Up to this many groups each has a cell of its own; beyond, a place counts its groups by outcome.
MAX_CELLS = 320
# Places shown over all families; each shows its share of them, within these bounds, and counts the rest.
MAX_PLACES = 120
FEWEST_PLACES, MOST_PLACES = 3, 12
# How the list of groups names the absence of a zone in its address.
NO_ZONE = "-"
_MAY_GROW = frozenset({"AVAILABLE", ""})


class GroupFacts(NamedTuple):
    """One group as the picture sees it. A NamedTuple, as thousands are made for each look at the overview."""

    name: str
    device_type: str
    family: str
    zone: str
    outcome: str
    amounts: Amounts

    @property
    def look(self) -> states.Look:
        return states.look("group", self.outcome)

    @property
    def blocked(self) -> bool:
        return self.outcome not in _MAY_GROW

    @property
    def told(self) -> str:
        """The cell in words: what a pointer or a screen reader gets."""
        held = self.amounts
        parts = [f"{words.number(held.used)} used", f"{words.number(held.free)} free"]
        parts += [f"{words.number(held.coming)} coming"] if held.coming else []
        of = f"of {words.devices(held.maximum, self.device_type)}"
        return f"{self.name}: {self.look.word}, {', '.join(parts)} {of}"


@lru_cache(4096)
def _key(*names: str) -> str:
    return "-".join(slugify(name) for name in names)


@lru_cache(4096)
def _address(device_type: str, family: str, zone: str) -> str:
    return f"/groups/?{urlencode({'family': f'{device_type}:{family}', 'zone': zone or NO_ZONE})}"


@dataclass(slots=True)
class Place:
    """One family in one zone; `bar` is drawn for those that are shown."""

    device_type: str
    family: str
    zone: str
    groups: list[GroupFacts] = field(default_factory=list)
    amounts: Amounts = field(default_factory=Amounts)
    counted: Counter[str] = field(default_factory=Counter)
    bar: Bar = bars.EMPTY

    @property
    def key(self) -> str:
        """Tells it from the others in the id of its element."""
        return _key(self.device_type, self.family, self.zone)

    @property
    def url(self) -> str:
        return _address(self.device_type, self.family, self.zone)

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        """(outcome, groups), what cannot grow first."""
        return sorted(self.counted.items(), key=lambda pair: (pair[0] == "AVAILABLE", pair[0]))

    @property
    def troubled(self) -> int:
        return sum(number for outcome, number in self.counted.items() if outcome not in _MAY_GROW)

    @property
    def told(self) -> str:
        """The bar in words."""
        named = {name: getattr(self.amounts, name) for name in ("used", "free", "booting", "requesting", "leaving")}
        parts = [f"{words.number(number)} {name}" for name, number in named.items() if number]
        of = f"{', '.join(parts) or 'nothing held'}, {words.number(self.amounts.maximum)} at most"
        blocked = f"; {words.number(self.amounts.blocked)} may not be bought now" if self.amounts.blocked else ""
        floor = f"; min {words.number(self.amounts.minimum)}" if self.amounts.minimum else ""
        cut = f"; the bar ends at {words.number(self.bar.scale)}" if self.bar.cut else ""
        return f"{of}{floor}{blocked}{cut}"


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
    def _places(self) -> Iterable[Place]:
        return (place for family in self.families for place in (*family.places, *family.folded))

    @property
    def blocked_groups(self) -> int:
        return sum(place.troubled for place in self._places)

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        """(outcome, groups), the most frequent first: the legend of the cells."""
        counted: Counter[str] = Counter()
        for place in self._places:
            counted.update(place.counted)
        return counted.most_common()

    @property
    def has_cut_bars(self) -> bool:
        return any(place.bar.cut for family in self.families for place in family.places)

    @property
    def has_floors(self) -> bool:
        return self.totals.minimum > 0

    @property
    def summary(self) -> str:
        """The picture in one sentence, for those who cannot see it."""
        parts = [
            f"{f.label}: {words.number(f.amounts.used)} used, {words.number(f.amounts.free)} free, "
            f"{words.number(f.amounts.coming)} coming, {words.number(f.amounts.maximum)} at most"
            for f in self.families
        ]
        return ". ".join(parts)


_COLUMNS = (
    "pk", "name", "device_type", "device_variant", "zone", "devices_per_worker", "workers_per_slice", "min_slices",
    "max_slices", "status__outcome",
)  # fmt: skip


def read_picture() -> Picture:
    """Two queries, whatever the size of the cluster, and two more where a group stands still."""
    counts = slice_counts()
    standstill = Standstill(clock.now())
    facts = []
    for pk, name, kind, variant, zone, devices, workers, least, most, outcome in Group.objects.order_by(
        "priority", "name"
    ).values_list(*_COLUMNS):
        code = standstill.code(pk, outcome)
        held = amounts(counts.get(pk), max(1, devices) * workers, least, most, code not in _MAY_GROW)
        facts.append(GroupFacts(name, kind, families.family(kind, variant), zone, code, held))
    return draw(facts)


def draw(facts: Iterable[GroupFacts]) -> Picture:
    """The picture of these groups: families in order, each with its places by zone."""
    by_family: dict[tuple[str, str], dict[str, Place]] = defaultdict(dict)
    number = 0
    for group in facts:
        places = by_family[group.device_type, group.family]
        place = places.get(group.zone)
        if place is None:
            place = places[group.zone] = Place(group.device_type, group.family, group.zone)
        place.groups.append(group)
        place.amounts.add(group.amounts)
        place.counted[group.outcome] += 1
        number += 1
    zones = {zone for places in by_family.values() for zone in places}
    keys = sorted(by_family, key=lambda key: families.order(*key))
    share = min(MOST_PLACES, max(FEWEST_PLACES, MAX_PLACES // max(1, len(by_family))))
    drawn = [_family(kind, name, list(by_family[kind, name].values()), share) for kind, name in keys]
    totals = Amounts()
    for family in drawn:
        totals.add(family.amounts)
    return Picture(drawn, number, len(zones), number <= MAX_CELLS, totals)


def _family(device_type: str, name: str, places: list[Place], share: int) -> Family:
    total = Amounts()
    for place in places:
        total.add(place.amounts)
    places.sort(key=lambda place: place.zone)
    if len(places) > share:
        places.sort(key=lambda place: (-place.troubled, -place.amounts.held, place.zone))
    for place in places[:share]:
        place.bar = place.amounts.bar
    return Family(device_type, name, places[:share], places[share:], total)
