"""The demonstration's groups and quota pools: a few families in three zones, with tiers, and every capacity type."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

GIB = 2**30
ZONES = ("us-central1-a", "us-east5-a", "europe-west4-b")
US_CENTRAL, US_EAST, EUROPE = ZONES


@dataclass(frozen=True, slots=True)
class Machine:
    """One worker: devices, cores, GiB of memory and disk."""

    device_type: str
    devices: int
    cpu: int
    memory_gib: int
    disk_gib: int = 100


@dataclass(frozen=True, slots=True)
class Offer:
    """One group: a machine in a zone, and its limits. `tier` is its place in the pool of its family and zone."""

    name: str
    zone: str
    machine: Machine
    variant: str = ""
    workers: int = 1
    capacity_type: str = "on_demand"
    priority: int = 100
    min_slices: int = 0
    buffer_slices: int = 0
    max_slices: int = 4
    pool: str = ""
    tier: int | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """A quota pool: what Iris believes the limit to be, and (where it differs) what the cloud really grants."""

    name: str
    limit: int
    metric: str
    granted: int | None = None


_V5E = Machine("tpu", 4, cpu=112, memory_gib=192)
_V5P = Machine("tpu", 4, cpu=208, memory_gib=448)
_V6E = Machine("tpu", 8, cpu=180, memory_gib=720)
_H100 = Machine("gpu", 8, cpu=192, memory_gib=2048, disk_gib=3000)
_A100 = Machine("gpu", 8, cpu=96, memory_gib=1360, disk_gib=3000)
_CPU = Machine("cpu", 0, cpu=16, memory_gib=64)

POOLS = (
    Pool(f"v5e/{US_CENTRAL}", 64, "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI"),
    Pool(f"v5e/{EUROPE}", 64, "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI"),
    Pool(f"v5p/{US_EAST}", 56, "TPUV5PPerProjectPerZoneForTPUAPI"),
    # The cloud grants less than the books say, as happens: its first refusal teaches Iris the true limit.
    Pool(f"v6e/{EUROPE}", 64, "TPUV6EPreemptiblePerProjectPerRegionForTPUAPI", granted=24),
    Pool(f"h100/{US_EAST}", 32, "NVIDIA_H100_GPUS"),
)

OFFERS = (
    Offer(
        "tpu-v5e-4-us-central1-a", US_CENTRAL, _V5E, "v5litepod-4", capacity_type="preemptible", priority=10,
        buffer_slices=2, max_slices=10, pool=f"v5e/{US_CENTRAL}", tier=1, price=2.4,
    ),
    Offer(
        "tpu-v5e-16-us-central1-a", US_CENTRAL, _V5E, "v5litepod-16", workers=4, capacity_type="preemptible",
        priority=20, max_slices=4, pool=f"v5e/{US_CENTRAL}", tier=2, price=9.6,
    ),
    Offer(
        "tpu-v5e-16-europe-west4-b", EUROPE, _V5E, "v5litepod-16", workers=4, capacity_type="preemptible",
        priority=30, max_slices=4, pool=f"v5e/{EUROPE}", tier=2, price=9.6,
    ),
    Offer(
        "tpu-v5p-8-us-east5-a", US_EAST, _V5P, "v5p-8", priority=20, buffer_slices=1, max_slices=6,
        pool=f"v5p/{US_EAST}", tier=1, price=16.8,
    ),
    Offer(
        "tpu-v5p-32-us-east5-a", US_EAST, _V5P, "v5p-32", workers=4, priority=30, max_slices=3,
        pool=f"v5p/{US_EAST}", tier=2, price=67.2,
    ),
    Offer(
        "tpu-v6e-8-europe-west4-b", EUROPE, _V6E, "v6e-8", capacity_type="preemptible", priority=10,
        buffer_slices=1, max_slices=6, pool=f"v6e/{EUROPE}", tier=1, price=10.8,
    ),
    Offer("tpu-v6e-8-us-east5-a", US_EAST, _V6E, "v6e-8", priority=40, max_slices=3, price=21.6),
    Offer(
        "gpu-h100-8-us-central1-a", US_CENTRAL, _H100, "h100", capacity_type="reserved", priority=10, min_slices=1,
        max_slices=3, price=52.0,
    ),
    Offer(
        "gpu-h100-8-us-east5-a", US_EAST, _H100, "h100", priority=60, max_slices=4, pool=f"h100/{US_EAST}", tier=1,
        price=88.0,
    ),
    Offer(
        "gpu-h100-8-spot-europe-west4-b", EUROPE, _H100, "h100", capacity_type="preemptible", priority=30,
        max_slices=3, price=31.0,
    ),
    Offer("gpu-a100-8-us-central1-a", US_CENTRAL, _A100, "a100", priority=20, max_slices=4, price=29.4),
    Offer(
        "cpu-16-us-central1-a", US_CENTRAL, _CPU, priority=50, min_slices=1, buffer_slices=1, max_slices=8, price=0.8
    ),
    Offer(
        "cpu-16-spot-europe-west4-b", EUROPE, _CPU, capacity_type="preemptible", priority=40, max_slices=8, price=0.3
    ),
)  # fmt: skip


def group_fields(offer: Offer) -> dict[str, Any]:
    """The stored fields of an offer's group, but for its name, platform and pool.

    Slices are released after a minute or two of idleness, so that a visitor sees it happen.
    """
    machine = offer.machine
    return {
        "zone": offer.zone,
        "region": offer.zone.rpartition("-")[0],
        "device_type": machine.device_type,
        "device_variant": offer.variant,
        "devices_per_worker": machine.devices,
        "workers_per_slice": offer.workers,
        "worker_cpu": machine.cpu,
        "worker_memory": machine.memory_gib * GIB,
        "worker_disk": machine.disk_gib * GIB,
        "capacity_type": offer.capacity_type,
        "priority": offer.priority,
        "min_slices": offer.min_slices,
        "buffer_slices": offer.buffer_slices,
        "max_slices": offer.max_slices,
        "allocation_tier": offer.tier,
        "idle_threshold_seconds": 90 if offer.workers == 1 else 120,
        "provision_timeout_seconds": 180,
        "attributes": {"cluster": "demonstration"},
        "price_per_slice_hour": offer.price,
    }


def granted_quotas() -> Iterator[tuple[str, int, str]]:
    """(pool, devices, metric) where the cloud grants less than the pool's limit says."""
    for pool in POOLS:
        if pool.granted is not None:
            yield pool.name, pool.granted, pool.metric
