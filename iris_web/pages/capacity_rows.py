"""What the capacity picture is drawn from, added up by the database: one row per family, zone and outcome.

Up to MAX_CELLS groups each is a row of its own, named; beyond, thousands of groups come as a few hundred rows.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db import connection

from iris_web.pages import families, states, words
from iris_web.pages.amounts import Amounts
from iris_web.pages.halts import Standstill
from scaling import clock
from scaling.models import Group, GroupStatus, Slice

# Up to this many groups each has a cell of its own; beyond, places are told in sums.
MAX_CELLS = 320
MAY_GROW = frozenset({"AVAILABLE", ""})


class Portion(NamedTuple):
    """Groups of one family in one zone that fare alike; `name` where it is a single one that is shown by itself."""

    name: str
    device_type: str
    family: str
    zone: str
    outcome: str
    amounts: Amounts
    groups: int = 1

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
        return f"{self.name}: {self.look.word}, {', '.join(parts)} {of}"


# How many slices of each kind a group holds, in the order of `Amounts`; times the devices of one slice.
_KINDS = {
    "used": "state = 'READY' AND idle_since IS NULL",
    "free": "state = 'READY' AND idle_since IS NOT NULL",
    "booting": "state = 'BOOTING'",
    "requesting": "state = 'REQUESTING'",
    "leaving": "state IN ('DRAINING', 'TERMINATING')",
}
_DEVICES = "(CASE WHEN g.devices_per_worker < 1 THEN 1 ELSE g.devices_per_worker END) * g.workers_per_slice"
_HEADROOM = "CASE WHEN g.max_slices > COALESCE(h.held, 0) THEN g.max_slices - COALESCE(h.held, 0) ELSE 0 END"
# A group that the planner calls PAUSED stands for itself: whose pause it is, only its own row tells.
_PAUSED_APART = "CASE WHEN s.outcome = 'PAUSED' THEN g.id ELSE 0 END"
_SQL = f"""
SELECT g.device_type, g.device_variant, g.zone, s.outcome, {{apart}}, {{name}}, COUNT(*),
       {", ".join(f"SUM(h.{kind} * {_DEVICES})" for kind in _KINDS)},
       SUM({_HEADROOM} * {_DEVICES}), SUM(g.min_slices * {_DEVICES}), SUM(g.max_slices * {_DEVICES})
FROM {Group._meta.db_table} g
LEFT JOIN {GroupStatus._meta.db_table} s ON s.group_id = g.id
LEFT JOIN (
    SELECT group_id, COUNT(*) AS held,
           {", ".join(f"COUNT(*) FILTER (WHERE {rule}) AS {kind}" for kind, rule in _KINDS.items())}
    FROM {Slice._meta.db_table} WHERE state IN ({", ".join(f"'{state}'" for state in Slice.LIVE)}) GROUP BY group_id
) h ON h.group_id = g.id
GROUP BY g.device_type, g.device_variant, g.zone, s.outcome, {{apart}} {{more}}
"""  # noqa: S608 - made of names and words of our own
_EACH = _SQL.format(apart="g.id", name="g.name", more=", g.name, g.priority ORDER BY g.priority, g.name")
_ADDED_UP = _SQL.format(apart=_PAUSED_APART, name="''", more="")


def read() -> list[Portion]:
    """Two queries, whatever the size of the cluster, and two more where a group stands still."""
    few = Group.objects.count() <= MAX_CELLS
    with connection.cursor() as cursor:
        cursor.execute(_EACH if few else _ADDED_UP)
        found = cursor.fetchall()
    return list(_portions(found))


def _portions(found: list[tuple[Any, ...]]) -> Iterator[Portion]:
    standstill = Standstill(clock.now())
    for kind, variant, zone, outcome, pk, name, groups, *numbers in found:
        used, free, booting, requesting, leaving, headroom, least, most = (int(number or 0) for number in numbers)
        code = standstill.code(pk, outcome)
        way = (headroom, 0) if code in MAY_GROW else (0, headroom)
        amounts = Amounts(used, free, booting, requesting, leaving, *way, least, most)
        yield Portion(name, kind, families.family(kind, variant), zone, code, amounts, groups)
