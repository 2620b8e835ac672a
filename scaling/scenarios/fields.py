"""Reading a scenario's mappings: every wrong value is told by its place and what was expected there.

Shared by all scenario formats. A place is written as a person would point at it: `replicas[2].created`.
"""

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_SHOWN_LENGTH = 60


class BadScenario(ValueError):
    """A scenario that cannot be meant; reads `place: expected ...` (or `expected ...` for the whole)."""

    def __init__(self, place: str, expected: str) -> None:
        super().__init__(f"{place}: {expected}" if place else expected)
        self.place = place
        self.expected = expected


def shown(value: object) -> str:
    """How a wrong value is quoted: its kind for mappings and lists, else itself, on one line and short."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = ascii(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."


def wrong(place: str, expected: str, value: object) -> BadScenario:
    """The error for a value that is there and is not what was expected."""
    return BadScenario(place, f"expected {expected}, got {shown(value)}")


def number(value: object, place: str, minimum: float | None = None, maximum: float | None = None) -> float:
    """A finite int or float (true and false are none), kept as written; edges are allowed values."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong(place, "a number", value)
    if minimum is not None and value < minimum:
        raise wrong(place, f"a number of at least {minimum:g}", value)
    if maximum is not None and value > maximum:
        raise wrong(place, f"a number of at most {maximum:g}", value)
    return value


def whole(value: object, place: str, minimum: int = 0, maximum: int | None = None) -> int:
    """A whole number; 2.0 is one, true is not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(place, "a whole number", value)
    if value < minimum:
        raise wrong(place, f"a whole number of at least {minimum}", value)
    if maximum is not None and value > maximum:
        raise wrong(place, f"a whole number of at most {maximum}", value)
    return value


def text(value: object, place: str) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(place, "a text", value)
    return value


def flag(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(place, "true or false", value)
    return value


def choice(value: object, place: str, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise wrong(place, f"one of {', '.join(allowed)}", value)
    return value


def items(value: object, place: str) -> Iterator[tuple[str, object]]:
    """Each element of a list with its own place."""
    if not isinstance(value, list):
        raise wrong(place, "a list", value)
    for index, element in enumerate(value):
        yield f"{place}[{index}]", element


@dataclass(frozen=True, slots=True)
class Fields:
    """One mapping of a scenario with its place; made by `fields`, which has refused unknown keys."""

    values: Mapping[str, object]
    place: str

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> str:
        """The place of one of its keys."""
        return f"{self.place}.{key}" if self.place else key

    def get(self, key: str) -> object:
        """The value, None where the key is left out."""
        return self.values.get(key)

    def need(self, key: str, expected: str) -> object:
        """The value of a key that may not be left out."""
        if key not in self.values:
            raise BadScenario(self.at(key), f"expected {expected}, and it is missing")
        return self.values[key]

    def number(self, key: str, default: float, minimum: float | None = None, maximum: float | None = None) -> float:
        return number(self.values[key], self.at(key), minimum, maximum) if key in self.values else default

    def number_or_none(self, key: str, minimum: float | None = None) -> float | None:
        """A number, or None where it is null or left out."""
        value = self.values.get(key)
        return None if value is None else number(value, self.at(key), minimum)

    def whole(self, key: str, default: int, minimum: int = 0, maximum: int | None = None) -> int:
        return whole(self.values[key], self.at(key), minimum, maximum) if key in self.values else default

    def whole_or_none(self, key: str, minimum: int = 0) -> int | None:
        """A whole number, or None where it is null or left out."""
        value = self.values.get(key)
        return None if value is None else whole(value, self.at(key), minimum)

    def text(self, key: str, default: str) -> str:
        return text(self.values[key], self.at(key)) if key in self.values else default

    def flag(self, key: str, default: bool) -> bool:
        return flag(self.values[key], self.at(key)) if key in self.values else default

    def choice(self, key: str, default: str, allowed: Sequence[str]) -> str:
        return choice(self.values[key], self.at(key), allowed) if key in self.values else default


def fields(value: object, place: str, known: Sequence[str], what: str = "a mapping") -> Fields:
    """A mapping whose keys are all among `known`; an unknown key is named with the nearest known one."""
    if not isinstance(value, Mapping):
        raise wrong(place, what, value)
    for key in value:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"{near[0]}" if near else f"one of {', '.join(known)}"
            raise BadScenario(f"{place}.{key}" if place else str(key), f"expected {hint}, this key is unknown")
    return Fields(value, place)
