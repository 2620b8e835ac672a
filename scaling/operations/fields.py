"""Tables of named input fields: read whole, with every fault named at its path."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scaling.operations.errors import Fault, InvalidRequest
from scaling.operations.inputs import JsonSchema, Kind, shown

MAX_FAULTS = 20
# More names than these are no help: whoever reads on finds them all in the documentation.
_NAMED = 3
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Field:
    """One input field: its name, how it is read, and what it means (shown in the API's documentation)."""

    name: str
    kind: Kind
    doc: str = ""
    required: bool = False


class FieldTable(dict[str, Field]):
    """Fields by name, in the order given."""

    def __init__(self, fields: Iterable[Field]) -> None:
        super().__init__((field.name, field) for field in fields)

    def only(self, names: Iterable[str]) -> "FieldTable":
        return FieldTable(self[name] for name in names)

    def schema(self) -> JsonSchema:
        """The JSON Schema of an object with exactly these fields."""
        properties = {f.name: f.kind.schema() | ({"description": f.doc} if f.doc else {}) for f in self.values()}
        required = [f.name for f in self.values() if f.required]
        return {"type": "object", "properties": properties, "additionalProperties": False} | (
            {"required": required} if required else {}
        )

    def read(self, values: object, at: str = "") -> dict[str, Any]:
        """Every given value as read; raises InvalidRequest with the faults found, paths below `at`."""
        read, faults = self.try_read(values, at)
        if faults:
            raise InvalidRequest.of(faults)
        return read

    def try_read(self, values: object, at: str = "") -> tuple[dict[str, Any], list[Fault]]:
        """(what could be read, what is wrong); at most MAX_FAULTS faults."""
        if not isinstance(values, Mapping):
            return {}, [Fault(at, f"expected an object, got {shown(values)}")]
        prefix = f"{at}." if at else ""
        faults = [
            Fault(f"{prefix}{name}", "expected a value, got none")
            for name, field in self.items()
            if field.required and name not in values
        ]
        read: dict[str, Any] = {}
        for name, value in values.items():
            try:
                read[name] = self._known(name).kind.read(value)
            except ValueError as wrong:
                faults.append(Fault(f"{prefix}{name}"[:120], str(wrong)))
        return read, faults[:MAX_FAULTS]

    def _known(self, name: object) -> Field:
        found = self.get(name) if isinstance(name, str) else None
        if found is None:
            raise ValueError(f"unknown field{nearest(str(name), self)}")
        return found


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the nearest known names, or nothing.

    The nearest is spelled alike, or has the name as whole words of it (`max` of `max_slices`): of those there may be a
    few, as long as all can be named.
    """
    names = list(known)
    close = difflib.get_close_matches(name[:100], names, n=1)
    if not close:
        close = [each for each in names if _is_part(name[:100], each)]
    told = " or ".join(f'"{each}"' for each in close)
    return f"; did you mean {told}?" if 0 < len(close) <= _NAMED else ""


def _is_part(name: str, whole: str) -> bool:
    wanted, words = _WORDS.findall(name.casefold()), _WORDS.findall(whole.casefold())
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in range(len(words)))
