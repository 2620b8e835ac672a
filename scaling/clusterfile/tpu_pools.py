"""`tpu_pools`: each entry × size × zone is one group; what a size is follows from the TPU topology table."""

from collections.abc import Iterator

from scaling.autoscaler.topologies import FAMILIES, TpuFamily, TpuType, tpu_family
from scaling.clusterfile.entries import GroupMapping, Template, labels, limits, room
from scaling.clusterfile.sections import Section, shown
from scaling.clusterfile.values import name, priority, zones

PRIORITY_STEP = 10


def family(value: object) -> TpuFamily:
    found = tpu_family(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"expected one of {', '.join(each.name for each in FAMILIES)}, got {shown(value)}")
    return found


def tpu_pool_groups(pools: Section, platform: str) -> Iterator[tuple[GroupMapping, Template]]:
    """Every group of every pool, in the order of pools, zones and sizes; raises ClusterFileError."""
    for key in pools:
        made: list[tuple[GroupMapping, Template]] = []
        with pools.notes.gathering():
            made = list(_pool(pools.section(key), _named(pools, key), platform))
        yield from made


def _named(pools: Section, key: object) -> str:
    try:
        return name(key)
    except ValueError as error:
        raise pools.wrong(key, str(error)) from None


def _pool(pool: Section, pool_name: str, platform: str) -> Iterator[tuple[GroupMapping, Template]]:
    sold = pool.required("family", family, "a TPU family such as v5e")
    places = pool.required("zones", zones, "a list of zones")
    first = pool.get("base_priority", priority, 100)
    resources = pool.section("resources")
    shared = room(resources) | labels(pool)
    resources.done()
    template = Template(pool, platform)
    sizes = list(_sizes(pool.section("sizes"), sold))
    if not sizes:
        raise pool.wrong("sizes", "expected at least one size, got none")
    pool.done()
    for zone in places:
        for index, (number, bought, own_limits) in enumerate(sizes):
            yield (
                {
                    "name": f"tpu_{pool_name}_{number}-{zone}",
                    **template.place(zone),
                    "device_type": "tpu",
                    "device_variant": bought.name,
                    "devices_per_worker": bought.chips_per_vm,
                    "workers_per_slice": bought.vms_per_slice,
                    **shared,
                    "priority": first + PRIORITY_STEP * index,
                    **own_limits,
                    "quota_pool": f"{pool_name}/{zone}",
                    "allocation_tier": index + 1,
                },
                template,
            )


def _sizes(sizes: Section, sold: TpuFamily) -> Iterator[tuple[int, TpuType, GroupMapping]]:
    """(number in the type's name, the type, its limits) in ascending order."""
    numbers: dict[int, object] = {}
    for key in sizes:
        number = _number(sizes, key)
        if number in numbers:
            raise sizes.wrong(key, "expected each size once, it is there twice")
        numbers[number] = key
    for number, key in sorted(numbers.items(), key=lambda item: item[0]):
        entry = sizes.section(key)
        try:
            bought = sold.type_of(number)
        except ValueError as error:
            raise sizes.wrong(key, str(error).rstrip(".")) from None
        own_limits = limits(entry)
        entry.done()
        yield number, bought, own_limits


def _number(sizes: Section, key: object) -> int:
    written = str(key)
    if isinstance(key, bool) or not (written.isascii() and written.isdigit() and len(written) < 8):
        raise sizes.wrong(key, f"expected a size such as 8, got {shown(key)}")
    return int(written)
