"""A scaling group: a kind of slice that can be bought in one place (AUTOSCALER section 1, the table of fields)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scaling.autoscaler.quantities import parse_bytes, parse_cores, parse_count
from scaling.autoscaler.words import CapacityType, DeviceType

DEFAULT_PLATFORM = "simulated"


class GroupFieldError(ValueError):
    """A field of a group that cannot be meant; reads `field: expected ..., got ...`."""

    def __init__(self, name: str, expected: str) -> None:
        super().__init__(f"{name}: {expected}")
        self.field = name
        self.expected = expected


def plain(word: str) -> str:
    """How words are compared: case does not count, `-` and `_` are alike; here both are `-`."""
    return word.strip().lower().replace("_", "-")


@dataclass(frozen=True, slots=True, init=False)
class ScalingGroup:
    """`ScalingGroup({"name": "tpu-v5-8", "max_slices": 8})`; every field but the name has a default.

    Durations are seconds, rates slices per minute, sizes bytes, `worker_*` of 0 unlimited. `provider` is whatever was
    given as second argument when it is not a platform's name (a client, or a stand-in for one); the decisions never
    look at it. Raises GroupFieldError for an unknown field or a value that cannot be meant. min_slices above
    max_slices is accepted here (then max wins); whoever edits a group refuses it.
    """

    name: str
    platform: str
    zone: str
    region: str
    device_type: DeviceType
    device_variant: str
    devices_per_worker: int
    workers_per_slice: int
    worker_cpu: float
    worker_memory: int
    worker_disk: int
    capacity_type: CapacityType
    priority: float
    min_slices: int
    buffer_slices: int
    max_slices: int
    quota_pool: str | None
    allocation_tier: float | None
    idle_threshold: float
    drain_idle_threshold: float
    scale_up_rate: float
    scale_down_rate: float
    provision_timeout: float
    attributes: Mapping[str, str]
    price_per_slice_hour: float | None
    provider: object = field(compare=False, repr=False)
    given: Mapping[str, object] = field(compare=False, repr=False)

    def __init__(self, mapping: Mapping[str, object], platform: object = None) -> None:
        values = _read(mapping)
        if isinstance(platform, str):
            values["platform"] = platform
        values["provider"] = None if isinstance(platform, str) else platform
        values["given"] = dict(mapping)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def edited(self, changes: Mapping[str, object]) -> "ScalingGroup":
        """The group with some fields changed; what was derived from a changed field is derived anew."""
        given = {key: value for key, value in self.given.items() if key not in _replaced_by(changes)}
        return ScalingGroup({"platform": self.platform} | given | dict(changes), self.provider)

    @property
    def slice_cost(self) -> int:
        """What one slice takes of a quota pool: its devices, or its workers where there are none."""
        return max(self.devices_per_worker, 1) * self.workers_per_slice

    @property
    def floor(self) -> int:
        """min_slices, where max wins."""
        return min(self.min_slices, self.max_slices)


Reader = Callable[[object], object]


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > 200:
        raise ValueError("expected a text")
    return value.strip()


def _name(value: object) -> str:
    if not _text(value):
        raise ValueError("expected a name")
    return _text(value)


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value) or None


def _number(minimum: float = -math.inf) -> Reader:
    expected = "expected a number" if minimum == -math.inf else f"expected a number, {minimum:g} or more"

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(expected)
        if value < minimum:
            raise ValueError(expected)
        return value

    return read


def _optional_number(minimum: float = -math.inf) -> Reader:
    read = _number(minimum)
    return lambda value: None if value is None else read(value)


def _count(value: object) -> int:
    if not isinstance(value, int | float):
        raise ValueError("expected a whole number, 0 or more")
    try:
        return parse_count(value)
    except ValueError:
        raise ValueError("expected a whole number, 0 or more") from None


def _at_least_one(value: object) -> int:
    if (count := _count(value)) < 1:
        raise ValueError("expected a whole number, 1 or more")
    return count


def _one_of(words: type[DeviceType] | type[CapacityType]) -> Reader:
    allowed = {plain(word): word for word in words}

    def read(value: object) -> object:
        if not isinstance(value, str) or plain(value) not in allowed:
            raise ValueError(f"expected one of {', '.join(words)}")
        return allowed[plain(value)]

    return read


def _variant(value: object) -> str:
    return _text(value).lower()


def _attributes(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("expected a mapping of labels")
    labels: dict[str, str] = {}
    for key, label in value.items():
        if not isinstance(key, str) or not isinstance(label, str | int | float):
            raise ValueError("expected a mapping of names to texts or numbers")
        labels[key] = str(label).lower() if isinstance(label, bool) else str(label)
    return labels


# field: (reader, default)
_FIELDS: dict[str, tuple[Reader, object]] = {
    "platform": (_name, DEFAULT_PLATFORM),
    "zone": (_text, ""),
    "region": (_text, ""),
    "device_type": (_one_of(DeviceType), DeviceType.CPU),
    "device_variant": (_variant, ""),
    "devices_per_worker": (_count, 0),
    "workers_per_slice": (_at_least_one, 1),
    "worker_cpu": (parse_cores, 0.0),
    "worker_memory": (parse_bytes, 0),
    "worker_disk": (parse_bytes, 0),
    "capacity_type": (_one_of(CapacityType), CapacityType.ON_DEMAND),
    "priority": (_number(), 100),
    "min_slices": (_count, 0),
    "buffer_slices": (_count, 0),
    "max_slices": (_count, 0),
    "quota_pool": (_optional_text, None),
    "allocation_tier": (_optional_number(), None),
    "idle_threshold": (_number(0), 300.0),
    "drain_idle_threshold": (_optional_number(0), None),
    "scale_up_rate": (_number(0), 16.0),
    "scale_down_rate": (_number(0), 32.0),
    "provision_timeout": (_number(0), 900.0),
    "attributes": (_attributes, {}),
    "price_per_slice_hour": (_optional_number(0), None),
}

# A constraint may name these; `name` is read apart, `max_workers` is another way to write max_slices.
FIELD_NAMES = ("name", *_FIELDS)
KNOWN_KEYS = (*FIELD_NAMES, "max_workers")


def _read(mapping: Mapping[str, object]) -> dict[str, object]:
    for key in mapping:
        if key not in KNOWN_KEYS:
            raise GroupFieldError(str(key), f"expected one of {', '.join(KNOWN_KEYS)}, this field is unknown")
    values = {"name": _field("name", _name, mapping.get("name"))}
    for key, (reader, default) in _FIELDS.items():
        values[key] = _field(key, reader, mapping[key]) if key in mapping else default
    _derive(values, mapping)
    return values


def _field(name: str, reader: Reader, value: object) -> object:
    try:
        return reader(value)
    except ValueError as error:
        said = str(error)
        shown = "" if "expected" not in said or " got " in said or "cannot be read" in said else f", got {value!r:.60}"
        raise GroupFieldError(name, f"{said.rstrip('.')}{shown}") from None


def _derive(values: dict[str, object], mapping: Mapping[str, object]) -> None:
    """Fills in what follows from other fields."""
    name, zone = str(values["name"]), str(values["zone"])
    if "device_type" not in mapping and "device_variant" not in mapping:
        family, dash, rest = name.lower().partition("-")
        if dash and rest and family in (DeviceType.TPU, DeviceType.GPU):
            values["device_type"], values["device_variant"] = DeviceType(family), rest
    if not values["region"] and zone.count("-") >= 2:
        values["region"] = zone.rpartition("-")[0]
    if values["drain_idle_threshold"] is None:
        values["drain_idle_threshold"] = 2 * _as_float(values["idle_threshold"])
    if "max_workers" in mapping:
        if "max_slices" in mapping:
            raise GroupFieldError("max_workers", "expected max_slices or max_workers, not both")
        workers = _field("max_workers", _count, mapping["max_workers"])
        values["max_slices"] = int(_as_float(workers) // _as_float(values["workers_per_slice"]))


def _as_float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _replaced_by(changes: Mapping[str, object]) -> set[str]:
    """The given fields that an edit supersedes: max_slices and max_workers stand for each other."""
    pair = {"max_slices", "max_workers"}
    return set(changes) | (pair if pair & set(changes) else set())
