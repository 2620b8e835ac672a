"""Device families: the kinds of accelerator that capacity is told by."""

from functools import lru_cache

from scaling.autoscaler.topologies import tpu_family

_ORDER = {"tpu": 0, "gpu": 1, "cpu": 2}


@lru_cache(4096)
def family(device_type: str, variant: str) -> str:
    """`v5p-32` belongs to `v5p`, `v5litepod-8` to `v5e`; a GPU's variant is its family, CPU workers are one."""
    if device_type == "cpu":
        return "cpu"
    prefix, dash, size = variant.rpartition("-")
    name = prefix if dash and size.isdigit() else variant
    known = tpu_family(name) if device_type == "tpu" else None
    return known.name if known else (name or device_type)


def label(device_type: str, name: str) -> str:
    """`TPU v5p`, `GPU h100`, `CPU`."""
    kind = device_type.upper()
    return kind if name == device_type else f"{kind} {name}"


def order(device_type: str, name: str) -> tuple[int, str]:
    return _ORDER.get(device_type, 9), name
