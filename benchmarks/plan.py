"""Time of a plan alone, in processor seconds: `python -m benchmarks.plan [entries ...]`.

50,000, 100,000 and 200,000 waiting tasks, one to a job, of 500 shapes over 1,000 groups. Two clusters: `whole` asks for
whole TPU workers, `mixed` packs CPU, GPU and TPU tasks of all sizes onto shared workers. Each time is the best of 3.
Exits 1 when 100,000 entries of `whole` take a second or more, or when twice the entries take much more than twice the
time (a tenth is left to the noise of the machine).
"""

import gc
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from scaling.autoscaler.cycle import run_cycle
from scaling.autoscaler.models import ClusterState, DemandEntry, Listing, ScalingGroup

GROUPS = 1_000
SHAPES = 500
SIZES = (50_000, 100_000, 200_000)
BOUND_SECONDS = 1.0
MOST_RATIO = 2.2
ROUNDS = 3
ZONES = [
    f"{place}{number}-{letter}"
    for place in ("us-east", "us-west", "eu-west")
    for number in range(1, 6)
    for letter in "abc"
]
VARIANTS = ("v4-8", "v5p-8", "v5p-16", "v5litepod-8", "v6e-8")
GIB = 2**30

Cluster = Callable[[random.Random], tuple[dict[str, ScalingGroup], list[dict[str, Any]]]]


def whole(chance: random.Random) -> tuple[dict[str, ScalingGroup], list[dict[str, Any]]]:
    """TPU groups, and shapes that name a variant, a zone and what the task needs beside."""
    groups = {
        f"tpu-{number}": ScalingGroup(
            {
                "name": f"tpu-{number}",
                "zone": ZONES[number % len(ZONES)],
                "device_type": "tpu",
                "device_variant": VARIANTS[number % len(VARIANTS)],
                "devices_per_worker": 4,
                "max_slices": 200,
                "priority": number % 7,
            }
        )
        for number in range(GROUPS)
    }
    shapes = [
        {"resources": {"tpu": 1, "cpu": 1 + number}, "constraints": [VARIANTS[number % 5], ZONES[number % len(ZONES)]]}
        for number in range(SHAPES)
    ]
    chance.shuffle(shapes)
    return groups, shapes


def mixed(chance: random.Random) -> tuple[dict[str, ScalingGroup], list[dict[str, Any]]]:
    """Groups of all kinds and sizes, and shapes that share their workers, some with preferences."""
    groups = {f"g{number}": _group(chance, number) for number in range(GROUPS)}
    return groups, [_shape(chance) for _ in range(SHAPES)]


def _group(chance: random.Random, number: int) -> ScalingGroup:
    kind = chance.choice(["cpu", "gpu", "tpu"])
    fields: dict[str, dict[str, object]] = {
        "cpu": {"worker_cpu": chance.choice([8, 16, 64]), "worker_memory": chance.choice([32, 64, 256]) * GIB},
        "gpu": {"device_variant": chance.choice(["h100", "a100", "l4"]), "devices_per_worker": chance.choice([1, 4, 8])}
        | {"worker_cpu": 96, "worker_memory": 1024 * GIB},
        "tpu": {"device_variant": chance.choice(VARIANTS), "devices_per_worker": 4},
    }
    common = {
        "name": f"g{number}",
        "zone": chance.choice(ZONES),
        "device_type": kind,
        "max_slices": chance.randrange(150),
    }
    capacity = {"priority": chance.choice([10, 20, 50]), "capacity_type": chance.choice(["on_demand", "preemptible"])}
    return ScalingGroup({**common, **capacity, **fields[kind]})


def _shape(chance: random.Random) -> dict[str, Any]:
    beside = {"cpu": chance.randrange(1, 64) / 2, "memory": f"{chance.randrange(1, 64)}GiB"}
    gpus = {"variant": chance.choice(["h100", "a100", "l4"]), "count": chance.choice([1, 2, 4, 0.25, 0.5])}
    resources = chance.choice(
        [beside, {"gpu": gpus, "cpu": 4, "memory": "16GiB"}, {"tpu": {"variant": chance.choice(VARIANTS)}}]
    )
    constraints: list[object] = [chance.choice(ZONES).rpartition("-")[0]] if chance.random() < 0.4 else []
    if chance.random() < 0.2:
        constraints.append({"key": "zone", "operator": "EQ", "values": [chance.choice(ZONES)], "mode": "preferred"})
    return {"resources": resources, "constraints": constraints, "tier": chance.choice(["production", "standard"])}


def measure(cluster: Cluster, entries: int) -> float:
    """The best processor time of one whole cycle with so many entries."""
    chance = random.Random(1)
    groups, shapes = cluster(chance)
    demand = [
        DemandEntry(
            **chance.choice(shapes),
            job_id=f"job-{number:06}",
            priority=chance.choice([1, 100, 200]),
            submitted=-chance.uniform(0, 100),
        )
        for number in range(entries)
    ]
    state = ClusterState(groups=groups)
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        run_cycle(state, {"simulated": Listing()}, demand, 0.0)
        times.append(time.process_time() - began)
    return min(times)


def main(sizes: Sequence[int]) -> int:
    missed = False
    for cluster in (whole, mixed):
        before = None
        for entries in sizes:
            seconds = measure(cluster, entries)
            ratio = "" if before is None else f", {seconds / before:.2f} times the one before"
            print(
                f"{cluster.__name__}: {entries:,} entries, {SHAPES} shapes, {GROUPS:,} groups: {seconds:.3f} s{ratio}"
            )
            missed |= cluster is whole and entries == SIZES[1] and seconds >= BOUND_SECONDS
            missed |= before is not None and seconds / before > MOST_RATIO
            before = seconds
    return int(missed)


if __name__ == "__main__":
    sys.exit(main([int(size) for size in sys.argv[1:]] or SIZES))
