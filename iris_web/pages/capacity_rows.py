"""What the capacity picture is drawn from: one row per family, zone and outcome.

Up to MAX_CELLS groups each is a row of its own, named; beyond, thousands of groups come as a few hundred rows.
"""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection

from iris_web.pages import families, states, words
from iris_web.pages.amounts import NO_SLICES, Amounts, SliceCounts, all_slice_counts, amounts
from iris_web.pages.halts import Standstill
from scaling import clock
from scaling.models import Group, GroupStatus

# Up to this many groups each has a cell of its own; beyond, places are told in sums.
MAX_CELLS = 320
MAY_GROW = frozenset({"AVAILABLE", ""})


class Portion(NamedTuple):
    """Groups of one family in one zone that fare alike; `name` where it is a single one that is shown by itself.

    `hidden` of them are out of stock behind the outcome, which another check names.
    """

    name: str
    device_type: str
    family: str
    zone: str
    outcome: str
    amounts: Amounts
    groups: int = 1
    hidden: int = 0

    @property
    def look(self) -> states.Look:
        return states.look("group", self.outcome)

    @property
    def blocked(self) -> bool:
        return self.outcome not in MAY_GROW

    @property
    def told(self) -> str:
        """The cell in words: what a pointer or a screen reader gets."""
        held = self.amounts
        parts = [f"{words.number(held.used)} used", f"{words.number(held.free)} free"]
        parts += [f"{words.number(held.coming)} coming"] if held.coming else []
        of = f"of {words.devices(held.maximum, self.device_type)}"
        word = f"{self.look.word} and out of stock" if self.hidden else self.look.word
        return f"{self.name}: {word}, {', '.join(parts)} {of}"


_SQL = f"""
SELECT g.id, g.name, g.device_type, g.device_variant, g.zone, s.outcome,
       (CASE WHEN g.devices_per_worker < 1 THEN 1 ELSE g.devices_per_worker END) * g.workers_per_slice,
       g.min_slices, g.max_slices, g.priority,
       CASE WHEN s.outcome <> 'STOCKOUT' AND s.stockout_until > %s THEN 1 ELSE 0 END
FROM {Group._meta.db_table} g LEFT JOIN {GroupStatus._meta.db_table} s ON s.group_id = g.id
"""  # noqa: S608 - made of names of our own
# By priority and name.
_in_order = itemgetter(9, 1)
_Row = tuple[Any, ...]


def read() -> list[Portion]:
    """Two queries, whatever the size of the cluster, and two more where a group stands still."""
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [connection.ops.adapt_datetimefield_value(now)])
        found = cursor.fetchall()
    portions = _named if len(found) <= MAX_CELLS else _added_up
    return portions(found, all_slice_counts(), Standstill(now))


def _named(found: list[_Row], counts: Mapping[int, SliceCounts], standstill: Standstill) -> list[Portion]:
    """One for each group, by priority and name."""
    portions = []
    for pk, name, kind, variant, zone, outcome, devices, least, most, _, hidden in sorted(found, key=_in_order):
        code = standstill.code(pk, outcome)
        held = amounts(counts.get(pk, NO_SLICES), devices, least, most, code not in MAY_GROW)
        portions.append(Portion(name, kind, families.family(kind, variant), zone, code, held, 1, hidden))
    return portions


def _added_up(found: list[_Row], counts: Mapping[int, SliceCounts], standstill: Standstill) -> list[Portion]:
    """Without names, one for all that are alike."""
    sums: dict[tuple[str, str, str, str], Amounts] = {}
    numbers: Counter[tuple[str, str, str, str]] = Counter()
    behind: Counter[tuple[str, str, str, str]] = Counter()
    for pk, _, kind, variant, zone, outcome, devices, least, most, _, hidden in found:
        code = standstill.code(pk, outcome)
        key = kind, variant, zone, code
        alike = sums.get(key)
        if alike is None:
            alike = sums[key] = Amounts()
        alike.include(counts.get(pk, NO_SLICES), devices, least, most, code not in MAY_GROW)
        numbers[key] += 1
        behind[key] += hidden
    return [
        Portion("", kind, families.family(kind, variant), zone, code, held, numbers[key], behind[key])
        for key, held in sums.items()
        for kind, variant, zone, code in (key,)
    ]
