"""The demonstration's cluster, work and weather: what a visitor will see, checked on the tables."""

import math
from collections import Counter
from typing import Any

import pytest

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.matching import GroupIndex, bits
from scaling.autoscaler.models import ScalingGroup
from scaling.demonstration.cluster import OFFERS, POOLS, ZONES, group_fields
from scaling.demonstration.weather import LASTS_SECONDS, PERIOD_SECONDS, stock_out_at
from scaling.demonstration.work import HOPELESS, KINDS, PINNED, Kind, arrivals
from scaling.operations.demand import read_jobs

BEGAN = 1_767_268_800.0
RENAMED = {"idle_threshold_seconds": "idle_threshold", "provision_timeout_seconds": "provision_timeout"}


def groups() -> list[ScalingGroup]:
    found = []
    for offer in OFFERS:
        fields = {RENAMED.get(name, name): value for name, value in group_fields(offer).items()}
        found.append(ScalingGroup({"name": offer.name, "quota_pool": offer.pool or None} | fields))
    return found


def entry(kind: Kind, tasks: int) -> DemandEntry:
    fields: dict[str, Any] = {"resources": kind.resources, "tasks": tasks, **kind.fields}
    return DemandEntry(**fields)


def possible(found: DemandEntry) -> list[ScalingGroup]:
    """The groups that could hold it if they had all their slices."""
    assert found.shape is not None, found.problem
    known = groups()
    matching = [known[bit] for bit in bits(GroupIndex(known).matches(found.shape).tier_allows)]
    most = found.tasks if found.shape.gang_tasks else 1
    return [of for of in matching if of.max_slices * of.workers_per_slice >= most]


def test_the_cluster_shows_every_family_capacity_type_and_zone_with_tiers_and_pools() -> None:
    assert 10 <= len(OFFERS) <= 15
    assert {offer.zone for offer in OFFERS} == set(ZONES)
    assert {offer.machine.device_type for offer in OFFERS} == {"cpu", "gpu", "tpu"}
    assert {offer.capacity_type for offer in OFFERS} == {"on_demand", "preemptible", "reserved"}
    assert {offer.pool for offer in OFFERS if offer.pool} == {pool.name for pool in POOLS}
    assert all(of.min_slices + of.buffer_slices <= of.max_slices for of in groups())


@pytest.mark.parametrize("kind", [*KINDS, *PINNED.values()], ids=lambda kind: kind.name)
def test_every_usual_job_can_be_served(kind: Kind) -> None:
    for tasks in kind.tasks:
        assert possible(entry(kind, tasks))


@pytest.mark.parametrize("kind", HOPELESS, ids=lambda kind: kind.name)
def test_no_hopeless_job_can_be_served(kind: Kind) -> None:
    assert not possible(entry(kind, kind.tasks[0]))


def test_pinned_jobs_want_the_zone_they_are_for() -> None:
    for zone, kind in PINNED.items():
        assert {of.zone for of in possible(entry(kind, kind.tasks[0]))} == {zone}


def test_jobs_of_an_hour_are_accepted_come_in_waves_and_are_the_same_every_time() -> None:
    seconds = range(int(BEGAN), int(BEGAN) + 3600)
    found = [job for second in seconds for job in arrivals(BEGAN, second)]
    requests, repeated = read_jobs(found)
    assert (len(requests), repeated) == (len(found), 0)
    assert 600 < len(found) < 1100
    assert all(15 <= request.run_seconds <= 180 for request in requests.values() if request.run_seconds)
    kinds = Counter(job["id"].rpartition("-")[0] for job in found)
    assert set(kinds) == {kind.name for kind in (*KINDS, *HOPELESS, *PINNED.values())}
    assert found == [job for second in seconds for job in arrivals(BEGAN, second)]


def test_a_hopeless_job_comes_in_any_two_minutes() -> None:
    names = {kind.name for kind in HOPELESS}
    for start in range(int(BEGAN), int(BEGAN) + 1000, 61):
        found = [
            job["id"].rpartition("-")[0] for second in range(start, start + 120) for job in arrivals(BEGAN, second)
        ]
        assert names & set(found)


def test_one_zone_after_the_other_runs_out_of_stock_the_first_within_a_minute() -> None:
    seen = [stock_out_at(BEGAN, BEGAN + second) for second in range(int(3 * PERIOD_SECONDS))]
    assert any(seen[:60])
    assert not any(seen[:40])
    assert {found.zone for found in seen if found} == set(ZONES)
    assert math.isclose(sum(1 for found in seen if found), 3 * LASTS_SECONDS, abs_tol=3)
