"""`scale_groups`: each entry is one group, or one in each of its zones."""

from collections.abc import Iterator

from scaling.autoscaler.topologies import TpuType, tpu_type
from scaling.autoscaler.words import DeviceType
from scaling.clusterfile.entries import GroupMapping, Template, labels, limits, room
from scaling.clusterfile.sections import Section, shown
from scaling.clusterfile.values import devices, machines, name, priority, slices, text, zones


def device_type(value: object) -> str:
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in set(DeviceType):
        raise ValueError(f"expected one of {', '.join(DeviceType)}, got {shown(value)}")
    return word


def scale_groups(groups: Section, platform: str) -> Iterator[tuple[GroupMapping, Template]]:
    """Every group in the order of entries and zones; raises ClusterFileError."""
    for key in groups:
        made: list[tuple[GroupMapping, Template]] = []
        with groups.notes.gathering():
            made = list(_entry(groups.section(key), _named(groups, key), platform))
        yield from made


def _named(groups: Section, key: object) -> str:
    try:
        return name(key)
    except ValueError as error:
        raise groups.wrong(key, str(error)) from None


def _entry(entry: Section, group_name: str, platform: str) -> Iterator[tuple[GroupMapping, Template]]:
    places: tuple[str, ...] = entry.get("zones", zones, ("",))
    resources = entry.section("resources")
    device = _device(resources)
    shared = room(resources) | labels(entry)
    resources.done()
    template = Template(entry, platform)
    device["workers_per_slice"] = _workers(entry, template, device)
    shared["priority"] = entry.get("priority", priority, 100)
    shared |= limits(entry) | _pool(entry)
    entry.done()
    for zone in places:
        full_name = f"{group_name}-{zone}" if zone else group_name
        yield {"name": full_name, **template.place(zone), **device, **shared}, template


def _device(resources: Section) -> GroupMapping:
    kind = resources.get("device_type", device_type, "cpu")
    variant = resources.get("device_variant", text, "").lower()
    known = _known_tpu(variant) if kind == DeviceType.TPU else None
    count = resources.get("device_count", devices, known.chips_per_vm if known else 0)
    if kind != DeviceType.CPU and count < 1:
        raise resources.wrong("device_count", f"expected how many {kind.upper()}s one VM has, at least 1")
    return {"device_type": kind, "device_variant": variant, "devices_per_worker": count}


def _workers(entry: Section, template: Template, device: GroupMapping) -> int:
    """VMs in a slice: as the entry says, else as its template or the TPU table says, else 1."""
    variant = str(device["device_variant"])
    known = _known_tpu(variant) if device["device_type"] == DeviceType.TPU else None
    usual = known.vms_per_slice if known else 1
    if template.num_vms is not None and not entry.has("num_vms"):
        try:
            usual = machines(template.num_vms)
        except ValueError as error:
            raise entry.wrong("slice_template.num_vms", str(error).rstrip(".")) from None
    count = entry.get("num_vms", machines, usual)
    if template.num_vms is not None and template.num_vms != count:
        raise entry.wrong("slice_template.num_vms", f"expected num_vms ({count}), got {shown(template.num_vms)}")
    if known and known.vms_per_slice != count:
        entry.notes.warn(entry.at("num_vms"), f"{variant} is {known.vms_per_slice} VMs by the TPU table, not {count}")
    return count


def _known_tpu(variant: str) -> TpuType | None:
    try:
        return tpu_type(variant)
    except ValueError:
        return None


def _pool(entry: Section) -> GroupMapping:
    """The quota pool and tier where the entry names them."""
    found: GroupMapping = {}
    if entry.has("quota_pool"):
        found["quota_pool"] = entry.get("quota_pool", text, "")
    if entry.has("allocation_tier"):
        found["allocation_tier"] = entry.get("allocation_tier", slices, 0)
    return found
