"""Step 7: what the load asks for, and its limits."""

import pytest

from tests.replicas.support import only, plan

RPS = {"target_latency_p95_ms": None, "target_rps": 10}


def desired_at(p95: float, count: int, **settings: object) -> int:
    return int(only(plan(settings, {"healthy": count}, {"p95_latency_ms": p95, "rps": 20}))["desired"])


@pytest.mark.parametrize(
    ("p95", "count", "desired"),
    [
        (500, 4, 4),
        (550, 4, 4),
        (450, 4, 4),
        (550.001, 4, 5),
        (449.9, 10, 9),
        (551, 1, 2),
        (140, 25, 7),
        (0, 4, 1),
        (5, 4, 1),
        (5000, 4, 10),
        (1000, 3, 6),
    ],
)
def test_in_proportion_rounded_up_with_the_tolerance_inside(p95: float, count: int, desired: int) -> None:
    most = {"max_replicas": 40} if count > 10 else {}
    assert desired_at(p95, count, **most) == desired


def test_the_tolerance_can_be_set() -> None:
    assert desired_at(600, 4, tolerance=0.2) == 4
    assert desired_at(601, 4, tolerance=0.2) == 5
    assert desired_at(505, 4, tolerance=0) == 5
    assert desired_at(500, 4, tolerance=0) == 4


@pytest.mark.parametrize("tenth", range(1, 30))
def test_binary_noise_never_rounds_a_whole_number_up(tenth: int) -> None:
    count, share = 10, tenth / 10
    if abs(share - 1) > 0.1 + 1e-9:
        assert desired_at(500 * share, count, max_replicas=100) == max(1, tenth)


def test_the_requests_are_shared_by_the_healthy_ones_only() -> None:
    replicas = {"healthy": 2, "warming": 3, "unhealthy": 2}
    tick = only(plan(RPS, replicas, {"rps": 60}))
    assert (tick["rps_ratio"], tick["desired"]) == (3, 6)


def test_the_highest_of_the_known_ratios_counts() -> None:
    both = {"target_rps": 10}
    assert only(plan(both, {"healthy": 4}, {"p95_latency_ms": 100, "rps": 80}))["ratio"] == 2
    assert only(plan(both, {"healthy": 4}, {"p95_latency_ms": 1000, "rps": 4}))["ratio"] == 2


def test_within_the_tolerance_it_never_drifts_to_the_floor() -> None:
    assert desired_at(520, 8, min_replicas=2) == 8


def test_the_clamp_is_to_minimum_and_maximum() -> None:
    assert desired_at(50, 6, min_replicas=4) == 4
    assert desired_at(5000, 6, max_replicas=7) == 7
    assert desired_at(500, 6, max_replicas=4) == 4
    assert desired_at(500, 2, min_replicas=4) == 4


def test_at_least_one_while_one_is_healthy() -> None:
    assert desired_at(0, 4, min_replicas=0) == 1
    assert desired_at(500, 1, min_replicas=0, max_replicas=0) == 1


def test_without_a_healthy_one_the_minimum_is_desired() -> None:
    tick = only(plan({"min_replicas": 2}, {"warming": 3}, {"p95_latency_ms": 5000, "rps": 20}))
    assert (tick["desired"], tick["add"]) == (2, 0)
