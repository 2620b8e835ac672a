"""The model of the fleet: replicas warm up, share the load, get slower under it, fail, go stale and leave."""

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.testing.fleet.fleet import Fleet, FleetDeployment, ReplicaStatus, Spell, UnknownDeployment
from scaling.testing.fleet.histogram import EMPTY, observed, quantile
from scaling.testing.fleet.history import History
from scaling.testing.fleet.latency import BUCKETS_MS, ReplicaModel
from scaling.testing.fleet.load import CurveLoad, TraceLoad
from scaling.testing.fleet.spec import Behaviour, DeploymentSpec

MODEL = ReplicaModel(service_ms=150, capacity_rps=10)


@dataclass(frozen=True)
class Steady:
    """The same number of requests each second."""

    rps: int

    def arrivals(self, start: float, end: float) -> int:
        return round(self.rps * end) - round(self.rps * start)


def fleet_of(rps: int = 20, replicas: int = 2, seed: int = 0, **behaviour: float) -> Fleet:
    spec = DeploymentSpec("d1", Steady(rps), replica=MODEL, behaviour=Behaviour(**({"warmup_seconds": 30} | behaviour)))
    fleet = Fleet([spec], began=1000, seed=seed)
    fleet.scale("d1", replicas, ())
    return fleet


def run(fleet: Fleet, until: float, history: History | None = None) -> FleetDeployment:
    while fleet.at < until:
        fleet.advance(fleet.at + 1)
        if history:
            history.record(fleet)
    return fleet.find("d1")


def test_a_replica_is_pending_until_it_is_warm_and_healthy_from_then_on() -> None:
    fleet = fleet_of()
    assert {it.status for it in run(fleet, 1029).replicas.values()} == {ReplicaStatus.PENDING}
    replicas = run(fleet, 1030).replicas.values()
    assert [(it.status, it.healthy, it.last_health_check) for it in replicas] == [("running", True, 1030)] * 2


def test_the_load_is_shared_by_the_healthy_ones_alone() -> None:
    fleet = fleet_of(rps=21, replicas=2)
    run(fleet, 1031)
    fleet.scale("d1", 1, ())
    deployment = run(fleet, 1040)
    counts = [it.counters[-1] for it in deployment.replicas.values()]
    assert counts[2] == 0
    assert abs(counts[0] - counts[1]) <= 11
    assert sum(counts) == 21 * 11
    assert deployment.counters[-1] == sum(counts)
    assert deployment.last_request_at == 1040


def test_without_a_healthy_replica_nothing_is_served_and_the_requests_are_seen() -> None:
    deployment = run(fleet_of(), 1010)
    assert deployment.counters == EMPTY
    assert deployment.last_request_at == 1010


@given(st.floats(0, 100), st.floats(0, 100))
def test_more_load_on_a_replica_is_never_faster(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert MODEL.p95_ms(low) <= MODEL.p95_ms(high)
    assert all(fast >= slow - 1e-9 for fast, slow in zip(MODEL.shares(low), MODEL.shares(high), strict=True))


@given(st.integers(0, 5000), st.floats(0, 300), st.floats(0, 1, exclude_max=True))
def test_a_histogram_only_grows_with_its_bounds_and_counts_every_request(n: int, rps: float, chance: float) -> None:
    counted = observed(n, MODEL.shares(rps), chance)
    assert counted[-1] == n
    assert list(counted) == sorted(counted)
    assert len(counted) == len(BUCKETS_MS) + 1


@pytest.mark.parametrize("rps", [0.5, 5, 10, 25, 60])
def test_the_measured_p95_is_that_of_the_curve(rps: float) -> None:
    counted = observed(100_000, MODEL.shares(rps), 0.5)
    assert quantile(0.95, counted) == pytest.approx(MODEL.p95_ms(rps), rel=0.08)


def test_a_quantile_is_linear_within_its_bucket_and_the_last_bound_beyond_all() -> None:
    in_third = [0.0, 0.0, *([40.0] * (len(BUCKETS_MS) - 1))]
    assert quantile(0.5, in_third) == BUCKETS_MS[1] + (BUCKETS_MS[2] - BUCKETS_MS[1]) / 2
    beyond = [*([0.0] * len(BUCKETS_MS)), 9.0]
    assert quantile(0.95, beyond) == BUCKETS_MS[-1]
    assert math.isnan(quantile(0.95, EMPTY))


def test_twice_the_replicas_bring_the_latency_down() -> None:
    def p95(replicas: int) -> float:
        history = History()
        run(fleet_of(rps=40, replicas=replicas), 1200, history)
        return dict(history.p95(1200, 60))["d1"]

    assert p95(1) > 2 * p95(4)
    assert p95(4) == pytest.approx(MODEL.p95_ms(10), rel=0.1)


def test_a_stopped_replica_leaves_after_draining_and_serves_no_more() -> None:
    fleet = fleet_of(drain_seconds=3)
    run(fleet, 1040)
    fleet.scale("d1", 0, ["d1-1", "nobody"])
    before = fleet.find("d1").replicas["d1-1"].counters
    deployment = run(fleet, 1042)
    assert deployment.replicas["d1-1"].status is ReplicaStatus.STOPPING
    assert deployment.replicas["d1-1"].counters == before
    assert list(run(fleet, 1043).replicas) == ["d1-2"]


def test_a_failed_replica_stays_listed_until_it_is_stopped_and_its_id_never_comes_again() -> None:
    fleet = fleet_of()
    run(fleet, 1040)
    assert fleet.cast("d1", "d1-2", Spell.FAIL)
    assert run(fleet, 1100).replicas["d1-2"].status is ReplicaStatus.FAILED
    fleet.scale("d1", 0, ["d1-2"])
    assert list(run(fleet, 1101).replicas) == ["d1-1"]
    assert fleet.scale("d1", 1, ()) == ["d1-3"]


@pytest.mark.parametrize(("spell", "healthy", "checked"), [(Spell.STALE, True, 1040), (Spell.UNHEALTHY, False, 1050)])
def test_a_replica_goes_stale_or_unhealthy_and_heals(spell: Spell, healthy: bool, checked: float) -> None:
    fleet = fleet_of()
    run(fleet, 1040)
    fleet.cast("d1", "d1-1", spell)
    replica = run(fleet, 1050).replicas["d1-1"]
    assert (replica.healthy, replica.last_health_check) == (healthy, checked)
    fleet.cast("d1", "d1-1", Spell.HEAL)
    run(fleet, 1051)
    assert (replica.healthy, replica.last_health_check) == (True, 1051)


def test_with_the_checker_down_all_go_stale_together() -> None:
    fleet = fleet_of(replicas=3)
    run(fleet, 1040)
    fleet.checker_is_down = True
    assert {it.last_health_check for it in run(fleet, 1060).replicas.values()} == {1040}


def test_replicas_fail_about_as_often_as_said() -> None:
    fleet = fleet_of(replicas=50, fails_every_seconds=500, warmup_seconds=0)
    failed = [it for it in run(fleet, 1250).replicas.values() if it.status is ReplicaStatus.FAILED]
    assert 12 <= len(failed) <= 28


def test_the_same_seed_gives_the_same_fleet() -> None:
    def fleet(seed: int) -> Fleet:
        made = fleet_of(replicas=5, fails_every_seconds=200, warmup_seconds=0, seed=seed)
        run(made, 1150)
        return made

    assert fleet(3).deployments == fleet(3).deployments
    assert fleet(3).deployments != fleet(4).deployments


def test_an_unknown_deployment_is_named() -> None:
    with pytest.raises(UnknownDeployment, match="no deployment 'd9'"):
        fleet_of().scale("d9", 1, ())


class TestHistory:
    def test_rates_are_those_of_the_window(self) -> None:
        history = History()
        run(fleet_of(rps=20), 1200, history)
        assert dict(history.rps(1200, 60))["d1"] == pytest.approx(20)
        assert dict(history.rps(1060, 60))["d1"] == pytest.approx(20 * 31 / 59)

    def test_nothing_is_known_before_two_samples_and_nothing_of_no_replicas(self) -> None:
        history = History()
        run(fleet_of(), 1001, history)
        assert dict(history.rps(1001, 60)) == {}
        run(fleet_of(replicas=0), 1100, empty := History())
        assert dict(empty.rps(1100, 60)) == {}

    def test_without_requests_the_rate_is_zero_and_the_quantile_not_a_number(self) -> None:
        history = History()
        run(fleet_of(rps=0), 1100, history)
        assert dict(history.rps(1100, 60)) == {"d1": 0}
        assert math.isnan(dict(history.p95(1100, 60))["d1"])

    def test_only_so_much_is_kept(self) -> None:
        history = History(keep_seconds=50)
        run(fleet_of(), 1200, history)
        assert dict(history.rps(1140, 30)) == {}
        assert dict(history.rps(1190, 30)) != {}


class TestLoads:
    @given(st.lists(st.floats(0, 500), min_size=1, max_size=20), st.floats(0.1, 5), st.floats(0.5, 20))
    def test_a_trace_loses_no_request_between_spans(self, spans: list[float], scale: float, speed: float) -> None:
        load = TraceLoad(times=(0.0, 0.5, 3.0, 3.0, 90.0), scale=scale, speed=speed)
        at = total = 0.0
        for span in spans:
            total += load.arrivals(at, at + span)
            at += span
        assert total == load.arrivals(0, at)

    def test_a_trace_begins_again_at_its_end(self) -> None:
        load = TraceLoad(times=(0.0, 1.0, 9.0))
        assert [load.arrivals(at, at + 10) for at in range(1, 40, 10)] == [3] * 4

    def test_a_curve_keeps_to_its_mean_and_bursts(self) -> None:
        load = CurveLoad(mean=20, day_seconds=600, burst=3, burst_every=10, seed=5)
        each = [load.arrivals(second, second + 1) for second in range(6000)]
        assert sum(each) / 6000 == pytest.approx(20 * 1.2, rel=0.2)
        assert max(each) > 60
        assert each == [load.arrivals(second, second + 1) for second in range(6000)]
