"""Constraints of a demand entry: plain words and structured ones, and whether they hold for a group.

Words are compared as AUTOSCALER section 1 says: case does not count, `-` and `_` are alike. A missing (or empty)
attribute fails every operator but NOT_EXISTS.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from scaling.autoscaler.quantities import parse_bytes, parse_cores
from scaling.autoscaler.scaling_group import FIELD_NAMES, ScalingGroup, plain


class InvalidRequestError(ValueError):
    """A demand entry that cannot be meant, said in a few words."""


class Operator(StrEnum):
    EQ = "EQ"
    NE = "NE"
    IN = "IN"
    EXISTS = "EXISTS"
    NOT_EXISTS = "NOT_EXISTS"
    GT = "GT"
    GE = "GE"
    LT = "LT"
    LE = "LE"


Attribute = str | float

_OPERATORS = {plain(operator): operator for operator in Operator}
_MODES = {"required": False, "preferred": True}
_KEYS = {"key", "operator", "values", "mode"}

# operator: (fewest values, most values)
_VALUE_COUNTS: dict[Operator, tuple[int, float]] = {
    Operator.EQ: (1, 1),
    Operator.NE: (1, 1),
    Operator.IN: (1, math.inf),
    Operator.EXISTS: (0, 0),
    Operator.NOT_EXISTS: (0, 0),
    Operator.GT: (1, 1),
    Operator.GE: (1, 1),
    Operator.LT: (1, 1),
    Operator.LE: (1, 1),
}
_COMPARISONS: dict[Operator, Callable[[float, float], bool]] = {
    Operator.GT: lambda have, want: have > want,
    Operator.GE: lambda have, want: have >= want,
    Operator.LT: lambda have, want: have < want,
    Operator.LE: lambda have, want: have <= want,
}
# A key, a sign and a value, as other tools write it. A colon may be part of a label's value, the others are not.
_SIGNS = {
    "=": Operator.EQ,
    "==": Operator.EQ,
    ":": Operator.EQ,
    "!=": Operator.NE,
    ">": Operator.GT,
    ">=": Operator.GE,
    "<": Operator.LT,
    "<=": Operator.LE,
}
_COMPARED = re.compile(rf"\s*(?:([\w./-]+)\s*([=!]=|[<>]=?|=)|((?i:{'|'.join(FIELD_NAMES)}))\s*(:))\s*(\S.*)")
# Fields where 0 means unlimited: more than any amount when compared by size.
_UNLIMITED_AT_ZERO = frozenset({"worker_cpu", "worker_memory", "worker_disk"})


@dataclass(frozen=True, slots=True)
class Word:
    """A plain word, as compared: it names something of the group or a part of its name."""

    text: str

    def holds(self, group: ScalingGroup) -> bool:
        return self.text in labels(group) or f"-{self.text}-" in f"-{plain(group.name)}-"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Constraint:
    """A structured constraint; `key` and `values` are as compared (see `plain`)."""

    key: str
    operator: Operator
    values: tuple[str, ...]
    preferred: bool = False

    def holds(self, group: ScalingGroup) -> bool:
        return self.accepts(attribute(group, self.key))

    def accepts(self, have: Attribute | None) -> bool:
        """Whether the constraint holds for a group where its key has this value (None = missing)."""
        if self.operator is Operator.NOT_EXISTS:
            return have is None
        if have is None:
            return False
        if self.operator is Operator.EXISTS:
            return True
        if self.operator in _COMPARISONS:
            return self._compares(have)
        return any(_same(have, value) for value in self.values) is not (self.operator is Operator.NE)

    def _compares(self, have: Attribute) -> bool:
        amount = as_number(have)
        wanted = as_number(self.values[0])
        if amount is None or wanted is None:
            return False
        if amount == 0 and self.key in _UNLIMITED_AT_ZERO:
            amount = math.inf
        return _COMPARISONS[self.operator](amount, wanted)

    def __str__(self) -> str:
        return " ".join([self.key, self.operator.value, *self.values])


Requirement = Word | Constraint


def labels(group: ScalingGroup) -> frozenset[str]:
    """What a plain word may equal, as compared; parts of the name come on top."""
    named = (group.zone, group.region, group.capacity_type, group.device_type, group.device_variant)
    return frozenset(plain(label) for label in (*named, *group.attributes.values()) if label)


def attribute(group: ScalingGroup, key: str) -> Attribute | None:
    """A field or, where no field has that name or it is empty, an attribute; None when missing."""
    if key in FIELD_NAMES and key != "attributes":
        value = getattr(group, key)
        if isinstance(value, str):
            value = str(value) or None
        if value is not None:
            return value  # type: ignore[no-any-return]
    for name, label in group.attributes.items():
        if field_key(name) == key:
            return label or None
    return None


def field_key(key: str) -> str:
    """Keys are compared with `_`, as the field names are written."""
    return plain(key).replace("-", "_")


def as_number(value: Attribute) -> float | None:
    """An amount as a number: `12`, `"1.5"`, `"500m"`, `"64GiB"`; None when it is none."""
    if not isinstance(value, str):
        return float(value)
    for read in (float, parse_cores, parse_bytes):
        try:
            number = float(read(value))
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None


def _same(have: Attribute, value: str) -> bool:
    if isinstance(have, str):
        return plain(have) == value
    return as_number(value) == float(have)


def parse_constraints(raw: object) -> tuple[Requirement, ...]:
    """The constraints of an entry, each once, in the order given; raises InvalidRequestError."""
    if raw is None:
        return ()
    if isinstance(raw, str):
        raw = [raw]
    if not isinstance(raw, list | tuple | set | frozenset):
        raise InvalidRequestError("constraints: expected a list of words and mappings")
    ordered = sorted(raw, key=str) if isinstance(raw, set | frozenset) else raw
    return tuple(dict.fromkeys(_parse_one(item) for item in ordered))


def _parse_one(item: object) -> Requirement:
    if isinstance(item, Word | Constraint):
        return item
    if isinstance(item, Mapping):
        return _parse_mapping(item)
    if isinstance(item, bool) or not isinstance(item, str | int | float) or not plain(str(item)):
        raise InvalidRequestError(f"constraint {item!r:.40}: expected a word or a mapping")
    if isinstance(item, str) and (compared := _COMPARED.match(item)):
        raise InvalidRequestError(_written_out(item.strip(), *filter(None, compared.groups())))
    return Word(plain(str(item)))


def _written_out(item: str, key: str, sign: str, value: str) -> str:
    """How to say what `region=us-east5` means: no word is read as a key and its value."""
    operator = _SIGNS[sign]
    word = f"the word {value:.40} or " if operator is Operator.EQ else ""
    mapping = f"{{key: {key:.40}, operator: {operator}, values: [{value:.40}]}}"
    return f"constraint {item!r:.40}: expected {word}{mapping}"


def _parse_mapping(item: Mapping[object, object]) -> Constraint:
    if unknown := sorted(str(key) for key in item if key not in _KEYS):
        raise InvalidRequestError(f"constraint: {unknown[0]!r:.40} is unknown, expected {', '.join(sorted(_KEYS))}")
    key = item.get("key")
    if not isinstance(key, str) or not key.strip():
        raise InvalidRequestError("constraint: key: expected a name")
    word = item.get("operator", Operator.EQ)
    operator = _OPERATORS.get(plain(word)) if isinstance(word, str) else None
    if operator is None:
        raise InvalidRequestError(f"constraint on {key:.40}: operator: expected one of {', '.join(Operator)}")
    mode = item.get("mode", "required")
    preferred = _MODES.get(plain(mode)) if isinstance(mode, str) else None
    if preferred is None:
        raise InvalidRequestError(f"constraint on {key:.40}: mode: expected required or preferred")
    return Constraint(field_key(key), operator, _values(key, operator, item.get("values")), preferred)


def _values(key: str, operator: Operator, raw: object) -> tuple[str, ...]:
    listed = raw if isinstance(raw, list | tuple) else [] if raw is None else [raw]
    if any(not isinstance(value, str | int | float) for value in listed):
        raise InvalidRequestError(f"constraint on {key:.40}: values: expected texts or numbers")
    fewest, most = _VALUE_COUNTS[operator]
    if not fewest <= len(listed) <= most:
        wanted = "at least one value" if most > 1 else "exactly one value" if most else "no value"
        raise InvalidRequestError(f"constraint on {key:.40}: {operator} takes {wanted}, got {len(listed)}")
    values = tuple(plain(str(value)) for value in listed)
    if operator in _COMPARISONS and as_number(values[0]) is None:
        raise InvalidRequestError(f"constraint on {key:.40}: {operator} compares numbers, got {values[0]!r:.40}")
    return values
