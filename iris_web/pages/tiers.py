"""Why a tier of a quota pool is closed: which groups close it, by what, and until when (AUTOSCALER section 3)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from iris_web.live.times import local_element
from iris_web.pages.openings import Sharer
from scaling.models import Marker

NAMED = 3
_CLOSED = re.compile(r"tier (\S+) of pool (.+) is closed(.*)")
# What closes a tier: kind of the marker, the outcome it makes, in words; a stock-out closes it in its zone alone.
_KINDS = {"quota": "has no quota left", "stockout": "is out of stock"}


class Mark(NamedTuple):
    """An open marker."""

    pk: int
    until: datetime | None


Marks = Mapping[tuple[str, str], Mark]


class Shut(NamedTuple):
    """A group whose failure closes its tier, and those above it."""

    name: str
    kind: str
    until: datetime | None

    @property
    def told(self) -> SafeString:
        what = format_html("{} {}", self.name, _KINDS[self.kind])
        return format_html("{} until {}", what, local_element(self.until)) if self.until else what


def open_marks() -> Marks:
    """By (group, kind). One query."""
    rows = Marker.objects.filter(closed_at__isnull=True).values_list("group__name", "kind", "pk", "until")
    return {(name, kind): Mark(pk, until) for name, kind, pk, until in rows}


def shutting(name: str, tier: int | None, around: Iterable[Sharer], marks: Marks, now: datetime) -> tuple[Shut, ...]:
    """Those of the group's pool that close its tier: at that tier or below, the lowest first; itself may be one."""
    around = list(around)
    own = next((one for one in around if one.name == name), None)
    if own is None or tier is None:
        return ()
    found = []
    for one in sorted(around, key=lambda one: (one.tier or 0, one.name)):
        if one.pool_id == own.pool_id and one.tier is not None and one.tier <= tier:
            for kind in _KINDS:
                mark = marks.get((one.name, kind))
                if mark and (mark.until is None or now < mark.until) and (kind == "quota" or one.zone == own.zone):
                    found.append(Shut(one.name, kind, mark.until))
    return tuple(found)


def tier_wait(
    tier: int | None, pool: str | None, detail: str | None, name: str = "", shut: Sequence[Shut] = ()
) -> SafeString | str:
    """Which tier waits for which, out of the planner's detail of a group that is TIER_BLOCKED, and for which groups."""
    found = _CLOSED.fullmatch(detail or "")
    if found is None or tier is None:
        return f"Its tier waits for a lower one of quota pool {pool or '?'}."
    lowest, _pool, where = found.groups()
    others = [one for one in shut if one.name != name]
    if lowest != str(tier):
        start = f"Tier {tier} of pool {pool} waits for tier {lowest}, which is closed{where}"
    elif others or not shut:
        start = f"Tier {tier} of pool {pool} is closed by another group of it{where}"
    else:
        start = f"Tier {tier} of pool {pool} is closed{where} by its own {_own(shut)}"
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    told = format_html_join(", ", "{}", ((one.told,) for one in others[:NAMED]))
    return format_html("{}: {}{}.", start, told, more) if others else f"{start}."


def _own(shut: Sequence[Shut]) -> str:
    return " and ".join({"quota": "exceeded quota", "stockout": "stock-out"}[one.kind] for one in shut)


def is_own_tier(detail: str | None, tier: int | None, codes: Iterable[str]) -> bool:
    """Whether what closes the tier is its own, and among these outcomes a failure of the group that closes it.

    Those close the group's own tier, of the whole pool or in its zone.
    """
    found = _CLOSED.fullmatch(detail or "")
    if found is None or found[1] != str(tier):
        return False
    return ("STOCKOUT" if found[3] else "QUOTA_EXCEEDED") in codes


def is_told_already(detail: str | None, codes: Iterable[str], name: str, shut: Iterable[Shut]) -> bool:
    """Whether what closes the tier is the group's own exceeded quota or stock-out, and `codes` tell that.

    It is not where another group at that tier or below has a failure of its own: that one must end too.
    """
    found = _CLOSED.fullmatch(detail or "")
    if found is None:
        return False
    return ("STOCKOUT" if found[3] else "QUOTA_EXCEEDED") in codes and all(one.name == name for one in shut)
