"""What an action changed, field by field."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scaling.operations.telling import label, time_words


@dataclass(frozen=True, slots=True)
class Difference:
    """A field before and after; "" where it was not there."""

    name: str
    before: str
    after: str

    @property
    def label(self) -> str:
        """What the forms call it; what no form has, by its name in plain words."""
        return label(self.name)


def differences(before: Any, after: Any) -> Iterator[Difference]:
    """By name, what was and what became, without what is the same; members of objects are fields of their own.

    A value that is no object counts as one field.
    """
    old, new = _fields(before), _fields(after)
    for name in sorted({*old, *new}):
        if name not in old or name not in new or old[name] != new[name]:
            yield Difference(name, _told(old[name]) if name in old else "", _told(new[name]) if name in new else "")


def unchanged(before: Any, after: Any) -> int:
    """How many fields are the same before and after."""
    old, new = _fields(before), _fields(after)
    return sum(1 for name, value in old.items() if name in new and new[name] == value)


def _fields(value: Any, prefix: str = "") -> dict[str, Any]:
    if value is None and not prefix:
        return {}
    if not isinstance(value, Mapping) or (prefix and not value):
        return {prefix or "value": value}
    found: dict[str, Any] = {}
    for name, member in value.items():
        found |= _fields(member, f"{prefix}.{name}" if prefix else str(name))
    return found


def _told(value: Any) -> str:
    if value is None or value == "":
        return "none"
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return time_words(value) or value
