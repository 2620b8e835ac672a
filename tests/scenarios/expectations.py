"""What a case expects of a run: checks of the form [path, operator, value].

A path is dotted keys and list indexes, `*` is every element and `a:b` a part of a list; each element must satisfy the
check and there must be at least one. On lists `any`, `none` and `all` compare the elements with the value; a mapping is
covered by one that holds at least its keys with those values. A path that leads nowhere satisfies `missing` alone.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = list[Any]


class _Nowhere:
    """The end of a path that leads nowhere."""

    def __repr__(self) -> str:
        return "nothing there"


NOWHERE = _Nowhere()


def _covers(whole: Any, part: Any) -> bool:
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and _covers(whole[key], part[key]) for key in part)
    return type(whole) is type(part) and bool(whole == part) if isinstance(part, bool) else bool(whole == part)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _covers,
    "!=": lambda have, want: not _covers(have, want),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": lambda have, want: want in have,
    "len==": lambda have, want: len(have) == want,
    "any": lambda have, want: any(_covers(item, want) for item in have),
    "none": lambda have, want: not any(_covers(item, want) for item in have),
    "all": lambda have, want: all(_covers(item, want) for item in have),
}


def unmet(output: Mapping[str, Any], checks: list[Check]) -> list[str]:
    """The checks that do not hold, each as a line."""
    return [line for check in checks for line in _unmet(output, check)]


def _unmet(output: Mapping[str, Any], check: Check) -> Iterator[str]:
    path, name, *rest = check
    found = list(_resolve(output, str(path).split("."), ""))
    if not found:
        yield f"{path}: nothing to look at"
    for place, have in found:
        if name == "missing":
            holds = have is NOWHERE or have is None
        else:
            holds = have is not NOWHERE and _OPERATORS[name](have, rest[0])
        if not holds:
            yield f"{place}: expected {name} {rest}, got {have!r:.200}"


def _resolve(value: Any, parts: list[str], place: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        yield place, value
        return
    for step, item in _steps(value, parts[0]):
        yield from _resolve(item, parts[1:], f"{place}.{step}" if place else step)


def _steps(value: Any, part: str) -> list[tuple[str, Any]]:
    """The elements that one part of a path names."""
    if isinstance(value, Mapping):
        return list(value.items()) if part == "*" else [(part, value.get(part, NOWHERE))]
    if not isinstance(value, list):
        return [(part, NOWHERE)]
    numbered = [(str(index), item) for index, item in enumerate(value)]
    if part == "*":
        return numbered
    if ":" in part:
        first, last = (int(end) if end else None for end in part.split(":"))
        return numbered[first:last]
    index = int(part)
    return numbered[index : index + 1 or None] or [(part, NOWHERE)]
