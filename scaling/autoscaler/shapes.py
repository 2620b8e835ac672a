"""What one task of an entry needs, in the form the planner compares: entries of one shape are planned alike.

Amounts are whole numbers so that they add up exactly: millionths of a core, bytes, millionths of a device.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from scaling.autoscaler.constraints import Constraint, InvalidRequestError, Requirement, Word, parse_constraints
from scaling.autoscaler.contradictions import refuse_contradictions
from scaling.autoscaler.quantities import parse_bytes, parse_cores, parse_count, parse_devices
from scaling.autoscaler.scaling_group import plain
from scaling.autoscaler.topologies import tpu_variant
from scaling.autoscaler.words import DeviceType, Tier

UNIT = 1_000_000


class Need(NamedTuple):
    """What one task takes of one worker: millionths of a core, bytes, bytes, whole devices, millionths of one GPU."""

    cpu: int = 0
    memory: int = 0
    disk: int = 0
    devices: int = 0
    share: int = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything about an entry that decides where its tasks may go. `gang_tasks` is 0 unless it is a gang."""

    device_type: DeviceType
    variants: tuple[str, ...]
    need: Need
    required: tuple[Requirement, ...]
    preferred: tuple[Constraint, ...]
    needs_firm: bool
    allow_accelerators: bool
    gang_tasks: int

    def gang_of(self, tasks: int) -> "Shape":
        """The shape of the same gang with another number of tasks."""
        return _interned(replace(self, gang_tasks=tasks))


class Request(NamedTuple):
    """An entry understood: its shape and number of tasks, or (shape None) the problem that makes it impossible."""

    shape: Shape | None
    tasks: int
    problem: str


class _Device(NamedTuple):
    device_type: DeviceType
    variants: tuple[str, ...] = ()
    devices: int = 0
    share: int = 0
    multiplier: int = 1


_RESOURCES = ("cpu", "memory", "disk", "tpu", "gpu")
_TPU_KEYS = ("version", "topology", "variant", "variants", "count")
_GPU_KEYS = ("variant", "variants", "count")
_DEVICE_KEYS = ("type", "variant", "variants", "count")
_CPU = _Device(DeviceType.CPU)


# Jobs come in few kinds: what a request means is worked out once for each way it is written.
_UNDERSTOOD: dict[str, Request] = {}
_REMEMBERED = 65_536


def understand(
    resources: object,
    device: object,
    constraints: object,
    tasks: object,
    gang: object,
    tier: object,
    allow_preemptible: object,
    allow_accelerators: object,
) -> Request:
    """The request that an entry's fields mean. Never raises: what cannot be meant is told as `problem`."""
    raw = (resources, device, constraints, tasks, gang, tier, allow_preemptible, allow_accelerators)
    # As text, because 1, 1.0 and True are equal in Python and mean different things here.
    written = repr(raw)
    found = _UNDERSTOOD.get(written)
    if found is None:
        if len(_UNDERSTOOD) >= _REMEMBERED:
            _UNDERSTOOD.clear()
        try:
            found = _read(*raw)
        except InvalidRequestError as error:
            found = Request(None, 0, str(error))
        _UNDERSTOOD[written] = found
    return found


def _read(
    resources: object,
    device: object,
    constraints: object,
    tasks: object,
    gang: object,
    tier: object,
    allow_preemptible: object,
    allow_accelerators: object,
) -> Request:
    amounts = _amounts(resources)
    found = _device(amounts, device)
    count = _tasks(tasks) * found.multiplier
    if count < 1:
        raise InvalidRequestError("no tasks")
    is_gang = _flag(gang, "gang")
    requirements = parse_constraints(constraints)
    refuse_contradictions(requirements)
    may_be_preempted = _flag(allow_preemptible, "allow_preemptible")
    shape = Shape(
        device_type=found.device_type,
        variants=found.variants,
        need=_need(amounts, found),
        required=tuple(item for item in requirements if isinstance(item, Word) or not item.preferred),
        preferred=tuple(item for item in requirements if isinstance(item, Constraint) and item.preferred),
        needs_firm=_tier(tier) is Tier.PRODUCTION and not may_be_preempted,
        allow_accelerators=_flag(allow_accelerators, "allow_accelerators"),
        gang_tasks=count if is_gang else 0,
    )
    return Request(_interned(shape), count, "")


@lru_cache(maxsize=65_536)
def _interned(shape: Shape) -> Shape:
    """One object for equal shapes, so that comparing them costs nothing."""
    return shape


def _amounts(resources: object) -> Mapping[str, object]:
    if resources is None:
        return {}
    if not isinstance(resources, Mapping):
        raise InvalidRequestError("resources: expected a mapping")
    for name in resources:
        if name not in _RESOURCES:
            raise InvalidRequestError(f"resources: {name!r:.40} is unknown, expected {', '.join(_RESOURCES)}")
    return resources


def _need(amounts: Mapping[str, object], found: _Device) -> Need:
    try:
        cores = parse_cores(amounts.get("cpu", 0))
    except ValueError as error:
        raise InvalidRequestError(f"cpu: {error}") from None
    sizes = []
    for name in ("memory", "disk"):
        try:
            sizes.append(parse_bytes(amounts.get(name, 0)))
        except ValueError as error:
            raise InvalidRequestError(f"{name}: {error}") from None
    return Need(_parts(cores), sizes[0], sizes[1], found.devices, found.share)


def _parts(amount: float) -> int:
    """Millionths, never rounded down to nothing."""
    return max(round(amount * UNIT), 1) if amount else 0


def _device(amounts: Mapping[str, object], device: object) -> _Device:
    found = [
        _tpu(amounts["tpu"], alone=len(amounts) == 1) if "tpu" in amounts else _CPU,
        _gpu(amounts["gpu"]) if "gpu" in amounts else _CPU,
        _explicit(device),
    ]
    accelerators = [item for item in found if item.device_type is not DeviceType.CPU]
    if len({item.device_type for item in accelerators}) > 1:
        raise InvalidRequestError("a task has either GPUs or TPUs, not both")
    if len(accelerators) > 1:
        raise InvalidRequestError("the device is given twice, in resources and in device")
    return accelerators[0] if accelerators else _CPU


def _tpu(value: object, alone: bool) -> _Device:
    """A number counts workers; a mapping names a variant, by topology or by name, and counts workers of it."""
    if not isinstance(value, Mapping):
        workers = _count(value, "tpu")
        # `tpu: 0` beside other amounts says that no TPU is wanted; alone it asks for nothing at all.
        return _CPU if workers == 0 and not alone else _Device(DeviceType.TPU, multiplier=workers)
    fields = _known(value, _TPU_KEYS, "tpu")
    variants = _variants(fields, "tpu")
    if "version" in fields or "topology" in fields:
        if not isinstance(fields.get("version"), str) or not isinstance(fields.get("topology"), str):
            raise InvalidRequestError("tpu: expected version and topology, such as v5p and 2x2x1")
        try:
            variants += (tpu_variant(str(fields["version"]), str(fields["topology"])),)
        except ValueError as error:
            raise InvalidRequestError(f"tpu: {error}") from None
    return _Device(DeviceType.TPU, variants, multiplier=_count(fields.get("count", 1), "tpu count"))


def _gpu(value: object) -> _Device:
    """GPUs per task, or a share of one GPU below 1."""
    if not isinstance(value, Mapping):
        return _gpus(value, ())
    fields = _known(value, _GPU_KEYS, "gpu")
    return _gpus(fields.get("count", 1), _variants(fields, "gpu"))


def _gpus(value: object, variants: tuple[str, ...]) -> _Device:
    try:
        amount = parse_devices(value)
    except ValueError as error:
        raise InvalidRequestError(f"gpu: {error}") from None
    if amount == 0:
        return _CPU
    if amount < 1:
        return _Device(DeviceType.GPU, variants, share=min(_parts(amount), UNIT))
    if amount != int(amount):
        raise InvalidRequestError(f"gpu: expected whole GPUs or a share of one below 1, got {amount:g}")
    return _Device(DeviceType.GPU, variants, devices=int(amount))


def _explicit(device: object) -> _Device:
    """The long form: type, any of several variants, count per task."""
    if device is None:
        return _CPU
    if isinstance(device, str):
        device = {"type": device}
    fields = _known(device, _DEVICE_KEYS, "device") if isinstance(device, Mapping) else None
    kind = plain(str(fields.get("type"))) if fields else ""
    if fields is None or kind not in set(DeviceType):
        raise InvalidRequestError(f"device: expected a type, one of {', '.join(DeviceType)}")
    if kind == DeviceType.CPU:
        return _CPU
    if kind == DeviceType.GPU:
        return _gpus(fields.get("count", 1), _variants(fields, "device"))
    return _Device(DeviceType.TPU, _variants(fields, "device"), _count(fields.get("count", 0), "device count"))


def _known(fields: Mapping[str, object], keys: tuple[str, ...], place: str) -> Mapping[str, object]:
    for key in fields:
        if key not in keys:
            raise InvalidRequestError(f"{place}: {key!r:.40} is unknown, expected {', '.join(keys)}")
    return fields


def _variants(fields: Mapping[str, object], place: str) -> tuple[str, ...]:
    listed: list[object] = []
    for key in ("variant", "variants"):
        value = fields.get(key)
        listed += value if isinstance(value, list | tuple) else [] if value is None else [value]
    if any(not isinstance(item, str) or not item.strip() for item in listed):
        raise InvalidRequestError(f"{place}: variant: expected a name such as h100 or v5p-8")
    return tuple(sorted({str(item).strip().lower() for item in listed}))


def _count(value: object, place: str) -> int:
    try:
        return parse_count(value)
    except ValueError as error:
        raise InvalidRequestError(f"{place}: {error}") from None


def _tasks(value: object) -> int:
    return _count(value, "tasks")


def _flag(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequestError(f"{place}: expected true or false, got {value!r:.40}")
    return value


def _tier(value: object) -> Tier:
    if isinstance(value, str) and plain(value) in set(Tier):
        return Tier(plain(value))
    raise InvalidRequestError(f"tier: expected one of {', '.join(Tier)}, got {value!r:.40}")
