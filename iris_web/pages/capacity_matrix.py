"""The matrix of a large cluster, families down and zones across: what each holds, up to max, and what is amiss."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from iris_web.pages import states, words
from iris_web.pages.capacity_rows import MAY_GROW
from iris_web.pages.states import Tone

if TYPE_CHECKING:
    from iris_web.pages.capacity import Family, Place

# How the list of groups names the absence of a zone in its address.
NO_ZONE = "-"
_GRAVEST = {tone: rank for rank, tone in enumerate((Tone.BAD, Tone.WARN, Tone.HELD, Tone.COMING, Tone.CALM))}
_ICON = '<svg class="i tone-{}" width="10" height="10" aria-hidden="true"><use href="#i-{}"/></svg>'
_EMPTY = SafeString("<td></td>")


def zone_address(zone: str) -> str:
    return f"/groups/?{urlencode({'zone': zone or NO_ZONE})}"


def cells(family: "Family", zones: list[str]) -> Iterator[SafeString]:
    """One `td` per zone, empty where the family has no group."""
    by_zone = {place.zone: place for place in family.places}
    for zone in zones:
        place = by_zone.get(zone)
        yield _EMPTY if place is None else _cell(family.label, place)


def _cell(label: str, place: "Place") -> SafeString:
    """Put together by hand, as five hundred of them are drawn at a look; what is not our own is escaped."""
    said = f"{label} in {place.zone or 'no zone'}: {place.told}"
    if place.troubled:
        said += f"; {outcomes_told(place)}"
    return SafeString(
        f'<td><a class="spot" href="{conditional_escape(place.url)}" title="{conditional_escape(said)}">'
        f"<b>{words.compact(place.amounts.held)}</b>{_gravest(place)}{place.bar.html}</a></td>"
    )


def outcomes_told(place: "Place") -> str:
    """`2 stockout, 1 backoff`: groups that may not grow, by why."""
    found = [(states.look("group", code), number) for code, number in place.counted.items() if code not in MAY_GROW]
    return ", ".join(f"{number} {look.word}" for look, number in sorted(found, key=lambda pair: _rank(pair[0])))


def _gravest(place: "Place") -> str:
    found = [states.look("group", code) for code in place.counted if code not in MAY_GROW]
    return _icon(min(found, key=_rank)) if found else ""


def _rank(look: states.Look) -> int:
    return _GRAVEST.get(look.tone, len(_GRAVEST))


@lru_cache(64)
def _icon(look: states.Look) -> str:
    return _ICON.format(look.tone, look.shape)
