"""The TPU slice types on sale: chips, VMs per slice, chips per VM, and the type a topology names.

Source: the public Cloud TPU documentation (https://cloud.google.com/tpu/docs/system-architecture-tpu-vm and the
pages of each version, "Configurations"). Two facts of those pages explain the table:

* the number in a type's name counts TensorCores for v2, v3, v4 and v5p (two on a chip) and chips for v5e and v6e;
* a slice of more than one VM has four chips on each VM; only v5e and v6e have single VMs of 1, 2 or 8 chips.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

_MAX_CHIPS = 1_000_000
_DIMENSIONS = re.compile(r"[0-9]{1,6}(?:x[0-9]{1,6}){1,3}")


@dataclass(frozen=True, slots=True)
class TpuType:
    """One type: `v5p-32` is 16 chips on 4 VMs of 4 chips."""

    name: str
    family: str
    chips: int
    vms_per_slice: int
    chips_per_vm: int


@dataclass(frozen=True, slots=True)
class TpuFamily:
    """One version: how its types are named and which sizes are on sale (sizes as in the name)."""

    name: str
    prefix: str
    cores_per_chip: int
    sizes: tuple[int, ...]
    single_vm_chips: tuple[int, ...] = ()

    @property
    def counts(self) -> str:
        """What the number in a type's name counts."""
        return "chips" if self.cores_per_chip == 1 else "cores"

    def type_of(self, size: int) -> TpuType:
        """The type with this number in its name, e.g. 32 for `v5p-32`; raises ValueError when not on sale."""
        if size not in self.sizes:
            offered = ", ".join(map(str, self.sizes[:12])) + (", ..." if len(self.sizes) > 12 else "")
            raise ValueError(f"TPU {self.name} has no size {size}; its sizes in {self.counts} are {offered}.")
        chips = size // self.cores_per_chip
        per_vm = chips if chips in self.single_vm_chips else 4
        return TpuType(f"{self.prefix}-{size}", self.name, chips, chips // per_vm, per_vm)


def _cubes(first: Iterable[int], step: int, last: int) -> tuple[int, ...]:
    """The small sizes, then every whole number of 4x4x4 cubes up to the largest slice."""
    return (*first, *range(step, last + 1, step))


FAMILIES: tuple[TpuFamily, ...] = (
    TpuFamily("v2", "v2", 2, (8, 32, 128, 256, 512)),
    TpuFamily("v3", "v3", 2, (8, 32, 64, 128, 256, 512, 1024, 2048)),
    TpuFamily("v4", "v4", 2, _cubes((8, 16, 32, 64), 128, 4096)),
    TpuFamily("v5e", "v5litepod", 1, (1, 2, 4, 8, 16, 32, 64, 128, 256), single_vm_chips=(1, 2, 4, 8)),
    TpuFamily("v5p", "v5p", 2, _cubes((8, 16, 32, 64), 128, 12288)),
    TpuFamily("v6e", "v6e", 1, (1, 4, 8, 16, 32, 64, 128, 256), single_vm_chips=(1, 4, 8)),
)

_BY_NAME: dict[str, TpuFamily] = {family.name: family for family in FAMILIES}

# Other names the same versions go by: in type names, in GKE node labels, in announcements.
_ALIASES: dict[str, str] = {
    "v5litepod": "v5e",
    "v5lite": "v5e",
    "v5-lite": "v5e",
    "v5-lite-podslice": "v5e",
    "v5-lite-device": "v5e",
    "v4-podslice": "v4",
    "v5p-slice": "v5p",
    "v6e-slice": "v6e",
    "trillium": "v6e",
}


def tpu_family(version: str) -> TpuFamily | None:
    """The family of a version's name (`v5e`, `V5litepod`, `tpu-v6e-slice`), or None when it is not known."""
    plain = _plain(version)
    return _BY_NAME.get(_ALIASES.get(plain, plain))


def tpu_type(name: str) -> TpuType:
    """The slice type of a name such as `v5p-32` or `v5e-8`; raises ValueError when there is none."""
    prefix, dash, size = _plain(name).rpartition("-")
    family = tpu_family(prefix) if dash else None
    if family is None or not (size.isascii() and size.isdigit() and len(size) < 8):
        raise ValueError(f"{_shown(name)} is not a TPU type; expected a name such as v5p-8 or v5litepod-16.")
    return family.type_of(int(size))


def tpu_variant(version: str, topology: str) -> str:
    """The device variant that a version and a topology name: v4 `2x2x1` is `v4-8`, v5e `2x4` is `v5litepod-8`.

    For a known version the number in the name follows from the chips, also where that size is not on sale (then no
    group has it, and the job's hint says so). For another version the number is the chips: `v5` `2x4` is `v5-8`.
    Raises ValueError for a topology that cannot be read.
    """
    chips = topology_chips(topology)
    family = tpu_family(version)
    if family is not None:
        return f"{family.prefix}-{chips * family.cores_per_chip}"
    plain = _plain(version)
    if not plain:
        raise ValueError("The TPU version is empty; expected one such as v5p.")
    return f"{plain}-{chips}"


def topology_chips(topology: str) -> int:
    """Chips in a topology such as `2x2x1` (the product of its dimensions); raises ValueError when unreadable."""
    plain = re.sub(r"\s*[x×*]\s*", "x", str(topology)[:100].strip().lower())
    chips = math.prod(map(int, plain.split("x"))) if _DIMENSIONS.fullmatch(plain) else 0
    if not 0 < chips <= _MAX_CHIPS:
        raise ValueError(f"{_shown(topology)} is not a TPU topology; expected chips per side such as 2x4 or 2x2x1.")
    return chips


def _plain(name: str) -> str:
    """Lower case, dashes for underscores and blanks, without a leading `tpu-`."""
    return re.sub(r"[\s_]+", "-", str(name)[:100].strip().lower()).removeprefix("tpu-")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
