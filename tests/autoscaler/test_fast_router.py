"""The fast router against the plain one on crowded clusters: many shapes, many entries, workers already in use."""

import random
from unittest.mock import patch

import pytest

from scaling.autoscaler.cycle import run_cycle
from scaling.autoscaler.models import (
    ClusterState,
    DemandEntry,
    Listing,
    QuotaPool,
    ScalingGroup,
    SeenSlice,
    Slice,
    SliceState,
    Usage,
    Worker,
)
from scaling.autoscaler.routing import Router
from scaling.autoscaler.seeker import Routed
from tests.autoscaler.plain_router import PlainRouter

NOW = 1000.0
GIB = 2**30
SHAPES: tuple[dict[str, object], ...] = (
    {"cpu": 1},
    {"cpu": 2, "memory": "4GiB"},
    {"cpu": 0.5, "memory": "16GiB"},
    {"cpu": 3, "memory": "1GiB", "disk": "10GiB"},
    {"cpu": 7, "memory": "8GiB"},
    {"gpu": 1, "cpu": 2},
    {"gpu": 0.3},
    {"gpu": 0.7, "cpu": 1},
    {"gpu": {"variant": "h100", "count": 2}},
    {"tpu": 1},
    {"tpu": 1, "cpu": 4},
)


def group(chance: random.Random, number: int) -> ScalingGroup:
    kind = chance.choice(["cpu", "cpu", "gpu", "tpu"])
    return ScalingGroup(
        {
            "name": f"g{number}",
            "zone": chance.choice(["z1", "z2"]),
            "device_type": kind,
            "device_variant": chance.choice(["h100", "a100"]) if kind == "gpu" else "",
            "devices_per_worker": chance.choice([2, 4]) if kind != "cpu" else 0,
            "workers_per_slice": chance.choice([1, 1, 1, 2, 3]),
            "worker_cpu": chance.choice([4, 8, 16]),
            "worker_memory": chance.choice([16, 32]) * GIB,
            "worker_disk": chance.choice([0, 32 * GIB]),
            "max_slices": chance.randrange(12),
            "priority": chance.choice([1, 2]),
            "capacity_type": chance.choice(["on_demand", "preemptible"]),
            "quota_pool": chance.choice(["p", None]),
        }
    )


def worker(chance: random.Random, index: int, owner: ScalingGroup) -> Worker:
    if chance.random() < 0.4:
        return Worker(index, idle_since=chance.choice([NOW - 5, NOW - 500, None]))
    gpus = tuple(chance.choice([0.3, 0.5, 1.0]) for _ in range(chance.randrange(owner.devices_per_worker + 1)))
    used = Usage(chance.randrange(4), chance.randrange(8) * GIB, chance.randrange(8) * GIB, gpus)
    return Worker(index, active_tasks=1, used=used, freed_at=chance.choice([NOW - 5, None]))


def slices(chance: random.Random, groups: list[ScalingGroup]) -> list[Slice]:
    found = []
    for owner in groups:
        for number in range(chance.randrange(5)):
            state = chance.choice([SliceState.READY, SliceState.READY, SliceState.BOOTING, SliceState.REQUESTING])
            ready = state is SliceState.READY
            workers = tuple(worker(chance, index, owner) for index in range(owner.workers_per_slice)) if ready else ()
            name = f"{owner.name}-s{number}"
            found.append(
                Slice(name, owner.name, state, NOW - 50, ready_since=NOW - 9000 if ready else None, workers=workers)
            )
    return found


def entries(chance: random.Random, count: int, gangs: float) -> list[DemandEntry]:
    return [
        DemandEntry(
            resources=chance.choice(SHAPES),
            constraints=chance.choice([[], ["z1"], [{"key": "zone", "values": ["z2"], "mode": "preferred"}]]),
            priority=chance.choice([1, 2, 3]),
            tasks=chance.choice([1, 1, 1, 1, 2, 5, 30]),
            tier=chance.choice(["production", "standard"]),
            allow_accelerators=chance.random() < 0.2,
            gang=chance.random() < gangs,
            job_id=f"j{number}",
            submitted=NOW - chance.choice([5, 60, 500]),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("gangs", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(40))
def test_crowded_clusters_are_routed_as_the_plain_rules_say(seed: int, gangs: float) -> None:
    chance = random.Random(seed)
    groups = [group(chance, number) for number in range(chance.randrange(1, 8))]
    there = slices(chance, groups)
    state = ClusterState(
        groups={item.name: item for item in groups},
        slices={item.name: item for item in there},
        pools={"p": QuotaPool("p", chance.choice([None, 5, 30]))},
    )
    listed = [SeenSlice(item.name, item.state) for item in there if item.state is not SliceState.REQUESTING]
    fast = Router.route

    def both(self: Router, wanted: list[DemandEntry]) -> list[Routed]:
        plain = PlainRouter.of(self)
        routed = fast(self, wanted)
        # Which worker of several slices opened together is whose is not settled: there gangs look at less on purpose.
        unsettled = any(room.slices > 1 and room.workers > 1 for room, _ in self.openings)
        if not (gangs and unsettled):
            assert [left for _, _, _, left in routed] == plain.route(wanted)
            assert [plan.assigned for plan in self.plans] == [item.assigned for item in plain.groups]
            assert [plan.opened for plan in self.plans] == [item.opened for item in plain.groups]
        return routed

    with patch.object(Router, "route", both):
        run_cycle(state, {"simulated": Listing(tuple(listed))}, entries(chance, 120, gangs), NOW)
