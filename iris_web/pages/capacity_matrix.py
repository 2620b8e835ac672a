"""The matrix of a large cluster, families down and zones across: what each holds, up to max, and what is amiss."""

from collections.abc import Iterator
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from iris_web.pages import states, words
from iris_web.pages.amounts import Amounts
from iris_web.pages.capacity_rows import MAY_GROW
from iris_web.pages.states import Tone

if TYPE_CHECKING:
    from iris_web.pages.capacity import Family, Place

_GRAVEST = {tone: rank for rank, tone in enumerate((Tone.BAD, Tone.WARN, Tone.HELD, Tone.COMING, Tone.CALM))}
_ICON = '<svg class="i tone-{}" width="10" height="10" aria-hidden="true"><use href="#i-{}"/></svg>'
_EMPTY = "<td></td>"


def cells(family: "Family", zones: list[str]) -> Iterator[str]:
    """One `td` per zone, safe to show; empty where the family has no group."""
    label, by_zone = family.label, {place.zone: place for place in family.places}
    for zone in zones:
        place = by_zone.get(zone)
        if place is None:
            yield _EMPTY
        else:
            trouble = tuple(sorted(_trouble(place))) if place.troubled else ()
            yield _cell(label, zone, place.url, place.amounts.figures, trouble)


def _trouble(place: "Place") -> Iterator[tuple[str, int]]:
    """(outcome, groups) that may not grow."""
    return ((code, number) for code, number in place.counted.items() if code not in MAY_GROW)


@lru_cache(4096)
def _cell(label: str, zone: str, url: str, figures: tuple[int, ...], trouble: tuple[tuple[str, int], ...]) -> str:
    """Put together by hand, as five hundred of them are drawn at a look; what is not our own is escaped.

    Nearly all are as they were at the look before: made of nothing but what is given, each is put together once.
    """
    amounts = Amounts(*figures)
    said = f"{label} in {zone or 'no zone'}: {amounts.told}"
    found = sorted(((states.look("group", code), number) for code, number in trouble), key=_gravest_first)
    if found:
        said += f"; {', '.join(f'{number} {look.word}' for look, number in found)}"
    icon = _icon(found[0][0]) if found else ""
    return (
        f'<td><a class="spot" href="{escape(url)}" title="{escape(said)}">'
        f"<b>{words.compact(amounts.held)}</b>{icon}{amounts.bar.html}</a></td>"
    )


def _gravest_first(pair: tuple[states.Look, int]) -> tuple[int, int]:
    """The order of what is wrong in one place: `2 stockout, 1 backoff`."""
    look, number = pair
    return _GRAVEST.get(look.tone, len(_GRAVEST)), -number


@lru_cache(64)
def _icon(look: states.Look) -> str:
    return _ICON.format(look.tone, look.shape)
