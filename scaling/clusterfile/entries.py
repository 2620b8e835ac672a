"""What tpu_pools and scale_groups share: one VM's room, labels, limits, and the platform of the slice template."""

from scaling.autoscaler.words import CapacityType
from scaling.clusterfile.sections import Section, shown
from scaling.clusterfile.values import attributes, cores, name, settings, size, slices

PLATFORM_KINDS = ("gcp", "coreweave", "local", "simulated")

GroupMapping = dict[str, object]


def capacity_type(value: object) -> str:
    """`on-demand`, `preemptible` or `reserved`, with dash or underscore, in any case."""
    word = value.strip().lower().replace("-", "_") if isinstance(value, str) else ""
    if word not in set(CapacityType):
        raise ValueError(f"expected one of on-demand, preemptible, reserved, got {shown(value)}")
    return word


def room(resources: Section) -> GroupMapping:
    """One VM's schedulable room and how it is sold; an absent amount is unlimited."""
    return {
        "capacity_type": resources.get("capacity_type", capacity_type, "on_demand"),
        "worker_cpu": resources.get("cpu", cores, 0.0),
        "worker_memory": resources.get("ram", size, 0),
        "worker_disk": resources.get("disk", size, 0),
    }


def labels(entry: Section) -> GroupMapping:
    """`worker.attributes` become the group's attributes."""
    worker = entry.section("worker")
    found = worker.get("attributes", attributes, None)
    worker.done()
    return {} if found is None else {"attributes": found}


def limits(entry: Section) -> GroupMapping:
    """Buffer, max and, where the file gives it, min. A max of 0, or none, keeps the group and closes it."""
    low = entry.get("min_slices", slices, 0)
    high = entry.get("max_slices", slices, 0)
    if high < low:
        raise entry.wrong("max_slices", f"expected at least min_slices ({low}), got {high}")
    if not entry.has("max_slices"):
        entry.notes.warn(entry.path, "no max_slices is given, so the group is made closed (max_slices 0)")
    given_min: GroupMapping = {"min_slices": low} if entry.has("min_slices") else {}
    return {"buffer_slices": entry.get("buffer_slices", slices, 0), "max_slices": high, **given_min}


class Template:
    """The slice_template of an entry: which platform sells it, and that platform's own settings.

    The settings (service account, runtime version, machine type ...) are not judged here but carried to the platform.
    """

    def __init__(self, entry: Section, usual_platform: str) -> None:
        section = entry.section("slice_template")
        named = [kind for kind in PLATFORM_KINDS if kind in section]
        if len(named) > 1:
            raise entry.wrong("slice_template", f"expected one platform, got {' and '.join(named)}")
        if not named and not usual_platform:
            raise entry.wrong("slice_template", f"expected one of {', '.join(PLATFORM_KINDS)} in it, got none")
        self.platform = named[0] if named else usual_platform
        own = section.section(self.platform)
        self.settings = settings(own)
        self.zone = own.get("zone", name, "")
        self.region = own.get("region", name, "")
        self.num_vms = section.raw("num_vms")
        section.done()

    def place(self, zone: str) -> GroupMapping:
        """Platform, zone and region of a group; a region the file does not name follows from the zone."""
        found: GroupMapping = {"platform": self.platform, "zone": zone or self.zone}
        return found | ({"region": self.region} if self.region else {})
