"""The capacity picture: what is used, free and coming by device family and zone, and what may still be bought.

Rows of `capacity_rows` add up to places (family × zone), places to a picture. Amounts are devices (workers where a
group has no devices). A few groups are drawn as bars with a cell for each; many as a matrix of families and zones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlencode

from django.utils.safestring import SafeString
from django.utils.text import slugify

from iris_web.pages import capacity_heads, capacity_matrix, capacity_rows, families, words
from iris_web.pages.amounts import Amounts
from iris_web.pages.bars import Bar
from iris_web.pages.capacity_heads import NO_ZONE
from iris_web.pages.capacity_rows import MAY_GROW, Portion

# Columns of the matrix, and places of one family among the bars; what is more is folded, told in a line.
MOST_ZONES = 32
MOST_PLACES = 12


@lru_cache(4096)
def _key(*names: str) -> str:
    return "-".join(slugify(name) for name in names)


@lru_cache(4096)
def address(device_type: str, family: str, zone: str | None = None, **more: str) -> str:
    """The list of groups with only those of a family, and of a zone of it."""
    place = {} if zone is None else {"zone": zone or NO_ZONE}
    return f"/groups/?{urlencode({'family': f'{device_type}:{family}', **place, **more})}"


@dataclass(slots=True)
class Place:
    """One family in one zone. `troubled`: how many of its groups may not grow, `hidden`: as that of `Portion`."""

    device_type: str
    family: str
    zone: str
    groups: list[Portion] = field(default_factory=list)
    amounts: Amounts = field(default_factory=Amounts)
    counted: Counter[str] = field(default_factory=Counter)
    troubled: int = 0
    hidden: int = 0

    @property
    def key(self) -> str:
        """Tells it from the others in the id of its element."""
        return _key(self.device_type, self.family, self.zone)

    @property
    def url(self) -> str:
        return address(self.device_type, self.family, self.zone)

    @property
    def number(self) -> int:
        return self.counted.total()

    @property
    def bar(self) -> Bar:
        return self.amounts.bar

    def add(self, portion: Portion) -> None:
        self.amounts.add(portion.amounts)
        self.counted[portion.outcome] += portion.groups
        self.hidden += portion.hidden
        if portion.outcome not in MAY_GROW:
            self.troubled += portion.groups
        if portion.name:
            self.groups.append(portion)

    @property
    def told(self) -> str:
        return self.amounts.told


@dataclass(slots=True)
class Family:
    """One device family with its places; `folded` are those that are not shown."""

    device_type: str
    name: str
    places: list[Place]
    folded: list[Place]
    amounts: Amounts

    @property
    def label(self) -> str:
        return families.label(self.device_type, self.name)

    @property
    def url(self) -> str:
        return address(self.device_type, self.name)

    @property
    def key(self) -> str:
        return _key(self.device_type, self.name)

    @property
    def word(self) -> str:
        return words.device_word(self.device_type)

    @property
    def head(self) -> SafeString:
        sums = self.amounts
        return capacity_heads.family(self.label, self.url, self.word, sums.used, sums.free, sums.coming, sums.maximum)

    @property
    def folded_troubled(self) -> int:
        return sum(place.troubled for place in self.folded)


@dataclass(slots=True)
class Picture:
    """`zones` are the columns of the matrix, none among the bars; `zone_count` counts all that there are."""

    families: list[Family]
    groups: int
    zone_count: int
    cells: bool
    totals: Amounts
    zones: list[str] = field(default_factory=list)

    @property
    def places(self) -> Iterator[Place]:
        return (place for family in self.families for place in (*family.places, *family.folded))

    @property
    def blocked_groups(self) -> int:
        return sum(place.troubled for place in self.places)

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        """(outcome, groups), the most frequent first: the legend of the cells.

        Out of stock are all that are, also behind another outcome: so many has the list that the number leads to.
        """
        counted: Counter[str] = Counter({"STOCKOUT": self.hidden} if self.hidden else {})
        for place in self.places:
            for code, number in place.counted.items():
                counted[code] += number
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))

    @property
    def hidden(self) -> int:
        return sum(place.hidden for place in self.places)

    @property
    def has_cut_bars(self) -> bool:
        return any(place.amounts.is_cut for family in self.families for place in family.places)

    @property
    def has_floors(self) -> bool:
        return self.totals.minimum > 0

    @property
    def columns(self) -> SafeString:
        """The heads of the matrix' columns."""
        return SafeString("".join(map(capacity_heads.zone, self.zones)))

    @property
    def rows(self) -> Iterator[tuple[Family, SafeString]]:
        """(family, its cells) down the matrix."""
        return ((family, SafeString("".join(capacity_matrix.cells(family, self.zones)))) for family in self.families)

    @property
    def folded_zones(self) -> int:
        """Zones without a column."""
        return self.zone_count - len(self.zones) if self.zones else 0

    @property
    def folded_troubled(self) -> int:
        return sum(family.folded_troubled for family in self.families)

    @property
    def summary(self) -> str:
        """The picture in one sentence per family, for those who cannot see it."""
        parts = [
            f"{f.label}: {words.number(f.amounts.used)} used, {words.number(f.amounts.free)} free, "
            f"{words.number(f.amounts.coming)} coming, {words.number(f.amounts.maximum)} at most"
            for f in self.families
        ]
        return ". ".join(parts)


def read_picture() -> Picture:
    """Two queries, whatever the size of the cluster, and two more where a group stands still."""
    return draw(capacity_rows.read())


def draw(portions: Iterable[Portion]) -> Picture:
    """The picture of these groups: families in order, each with its places by zone."""
    by_family: dict[tuple[str, str], dict[str, Place]] = defaultdict(dict)
    for portion in portions:
        places = by_family[portion.device_type, portion.family]
        place = places.get(portion.zone)
        if place is None:
            place = places[portion.zone] = Place(portion.device_type, portion.family, portion.zone)
        place.add(portion)
    number = sum(place.number for places in by_family.values() for place in places.values())
    cells = number <= capacity_rows.MAX_CELLS
    found = _columns(by_family)
    zones, most = ([], MOST_PLACES) if cells else (found[:MOST_ZONES], 0)
    keys = sorted(by_family, key=lambda key: families.order(*key))
    drawn = [_family(kind, name, by_family[kind, name], zones, most) for kind, name in keys]
    totals = Amounts()
    for family in drawn:
        totals.add(family.amounts)
    return Picture(drawn, number, len(found), cells, totals, sorted(zones))


def _columns(by_family: dict[tuple[str, str], dict[str, Place]]) -> list[str]:
    """All zones, those with the most groups in trouble first, then those that hold the most."""
    weight: dict[str, list[int]] = {}
    for places in by_family.values():
        for zone, place in places.items():
            known = weight.setdefault(zone, [0, 0])
            known[0] += place.troubled
            known[1] += place.amounts.held
    return sorted(weight, key=lambda zone: (-weight[zone][0], -weight[zone][1], zone))


def _family(device_type: str, name: str, places: dict[str, Place], zones: list[str], most: int) -> Family:
    """`zones` are the columns to show; without them, the `most` places that matter most."""
    total = Amounts()
    for place in places.values():
        total.add(place.amounts)
    ordered = sorted(places.values(), key=lambda place: place.zone)
    if zones:
        columns = set(zones)
        shown, folded = [p for p in ordered if p.zone in columns], [p for p in ordered if p.zone not in columns]
    elif len(ordered) > most:
        ordered.sort(key=lambda place: (-place.troubled, -place.amounts.held, place.zone))
        shown, folded = ordered[:most], ordered[most:]
    else:
        shown, folded = ordered, []
    return Family(device_type, name, shown, folded, total)
