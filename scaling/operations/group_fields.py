"""What may be written into a group or a quota pool: the one table behind pages, admin, API and cluster files."""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings

from scaling.autoscaler.quantities import MAX_BYTES, MAX_CORES
from scaling.models import Group
from scaling.operations.errors import Fault, InvalidRequest
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Choice, Labels, Number, Price, Text, Whole

MAX_SLICES = 1_000_000
_YEAR_SECONDS = 31_536_000

# What an edit of a group may change: limits, order, windows, rates, pool and price.
LIMIT_FIELDS = FieldTable(
    [
        Field("min_slices", Whole(0, MAX_SLICES), "Floor on the total number of slices."),
        Field("buffer_slices", Whole(0, MAX_SLICES), "Warm slices kept above demand."),
        Field("max_slices", Whole(0, MAX_SLICES), "Hard cap on every slice that is not gone; 0 = no growth."),
        Field("priority", Whole(-1_000_000, 1_000_000), "Lower is tried first."),
        Field("quota_pool", Text(200), "Name of the quota pool it shares; empty = none."),
        Field("allocation_tier", Whole(0, 1_000_000, nullable=True), "Place in the quota pool; larger = larger slice."),
        Field("idle_threshold_seconds", Number(0, _YEAR_SECONDS), "Idle this long before a slice may go."),
        Field(
            "drain_idle_threshold_seconds",
            Number(0, _YEAR_SECONDS, nullable=True),
            "The window while the group drains; null = twice the idle threshold.",
        ),
        Field("scale_up_rate", Number(0, 100_000), "Slices per minute it may request."),
        Field("scale_down_rate", Number(0, 100_000), "Slices per minute it may release."),
        Field("provision_timeout_seconds", Number(1, _YEAR_SECONDS), "In flight longer than this = failed."),
        Field("attributes", Labels(), "Extra labels that constraints may name."),
        Field(
            "price_per_slice_hour",
            Price(),
            f"Cost of one slice for an hour, in {settings.IRIS_CURRENCY}; null = not known.",
        ),
    ]
)

# What a group is: told when it is made, not edited afterwards, for slices of it exist.
SHAPE_FIELDS = FieldTable(
    [
        Field("name", Text(200, required=True), "Unique name."),
        Field("platform", Text(50, required=True), "Name of the platform its slices are bought from."),
        Field("zone", Text(100)),
        Field("region", Text(100)),
        Field("device_type", Choice(("cpu", "gpu", "tpu"))),
        Field("device_variant", Text(100, lower=True), "Such as h100 or v5p-8."),
        Field("devices_per_worker", Whole(0, 10_000), "Chips or GPUs on one worker."),
        Field("workers_per_slice", Whole(1, 100_000), "A slice is bought and released whole."),
        Field("worker_cpu", Number(0, MAX_CORES), "Cores of one worker; 0 = unlimited."),
        Field("worker_memory", Whole(0, MAX_BYTES), "Bytes of one worker; 0 = unlimited."),
        Field("worker_disk", Whole(0, MAX_BYTES), "Bytes of one worker; 0 = unlimited."),
        Field("capacity_type", Choice(("on_demand", "preemptible", "reserved"))),
    ]
)

GROUP_FIELDS = FieldTable([*SHAPE_FIELDS.values(), *LIMIT_FIELDS.values()])

POOL_FIELDS = FieldTable(
    [
        Field("limit", Whole(0, 1_000_000_000, nullable=True), "Devices its groups may hold; null = not limited here."),
        Field("quota_metric", Text(200), "The platform's own name of this quota."),
    ]
)


def read_group(values: Mapping[str, Any], current: Group | None = None) -> dict[str, Any]:
    """Every given field as it is stored; raises InvalidRequest naming each fault.

    `current` supplies what `values` leaves out, so that a limit is checked against the other that stays; for a new
    group the model's defaults stand in. Names of pools and platforms are read, not looked up.
    """
    table = GROUP_FIELDS if current is None else LIMIT_FIELDS
    read, faults = table.try_read(values)
    whole = {name: getattr(current or Group(), name) for name in ("min_slices", "max_slices")} | read
    faults += [Fault(*found) for rule in _RULES if not faults and (found := rule(read, whole))]
    if faults:
        raise InvalidRequest.of(faults)
    return read


def _max_holds_min(given: Mapping[str, Any], whole: Mapping[str, Any]) -> tuple[str, str] | None:
    low, high = whole["min_slices"], whole["max_slices"]
    if low <= high:
        return None
    if "max_slices" in given or "min_slices" not in given:
        return "max_slices", f"expected at least min_slices ({low}), got {high}"
    return "min_slices", f"expected at most max_slices ({high}), got {low}"


_RULES: tuple[Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[str, str] | None], ...] = (_max_holds_min,)
