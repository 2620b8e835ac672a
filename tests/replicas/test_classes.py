"""Section 2: what each replica counts for."""

import itertools

import pytest

from scaling.replicas.replica import Replica, ReplicaClass, classify, muster, since
from tests.replicas.support import deployment, healthy

NOW = 10_000.0
FAILED, DRAINING, HEALTHY, WARMING, UNHEALTHY = ReplicaClass


def class_of(grace: float = 3600, **replica: object) -> ReplicaClass:
    given = {"healthy": False, "created": NOW - 90_000, "last_health_check": NOW - 5} | replica
    times = since(deployment(health_grace_seconds=grace), NOW)
    return classify(Replica("r", **given), times)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", ["failed", "crashed"])
def test_a_failed_status_wins_over_a_good_health_check(status: str) -> None:
    assert class_of(status=status, healthy=True) is FAILED


@pytest.mark.parametrize("status", ["stopping", "stopped", "terminating"])
def test_a_leaving_replica_is_draining_however_healthy(status: str) -> None:
    assert class_of(status=status, healthy=True) is DRAINING


@pytest.mark.parametrize(("age", "expected"), [(0, HEALTHY), (60, HEALTHY), (60.1, UNHEALTHY)])
def test_a_health_check_is_believed_for_a_minute(age: float, expected: ReplicaClass) -> None:
    assert class_of(healthy=True, last_health_check=NOW - age) is expected


@pytest.mark.parametrize(("age", "expected"), [(0, WARMING), (3599.9, WARMING), (3600, UNHEALTHY)])
def test_a_new_replica_warms_up_for_less_than_an_hour(age: float, expected: ReplicaClass) -> None:
    assert class_of(created=NOW - age) is expected


def test_the_grace_can_be_set_per_deployment() -> None:
    assert class_of(grace=60, created=NOW - 59) is WARMING
    assert class_of(grace=60, created=NOW - 60) is UNHEALTHY


@pytest.mark.parametrize(("age", "expected"), [(30, WARMING), (3600, UNHEALTHY)])
def test_a_pending_replica_warms_up_like_any_other(age: float, expected: ReplicaClass) -> None:
    assert class_of(status="pending", created=NOW - age, last_health_check=None) is expected


def test_a_young_replica_that_was_healthy_before_is_unhealthy() -> None:
    assert class_of(created=NOW - 10, was_healthy=True) is UNHEALTHY
    assert class_of(created=NOW - 10, was_healthy=True, healthy=True, last_health_check=NOW - 61) is UNHEALTHY


def test_a_pending_replica_with_a_good_check_is_healthy() -> None:
    assert class_of(status="pending", healthy=True) is HEALTHY


def test_a_missing_health_check_is_not_healthy() -> None:
    assert class_of(healthy=True, last_health_check=None) is UNHEALTHY


def test_a_missing_creation_time_is_old() -> None:
    assert class_of(created=None) is UNHEALTHY


def test_times_in_the_future_read_as_now() -> None:
    assert class_of(healthy=True, last_health_check=NOW + 500) is HEALTHY
    assert class_of(created=NOW + 500) is WARMING


def test_edges_hold_on_the_axis_of_the_clock() -> None:
    now = 1_764_000_000.3
    times = since(deployment(), now)
    assert classify(Replica("r", healthy=True, last_health_check=now - 60.0), times) is HEALTHY
    assert classify(Replica("r", created=now - 3600.0), times) is UNHEALTHY


def test_each_class_is_listed_oldest_first_then_by_id() -> None:
    replicas = [
        Replica("c", healthy=True, created=5, last_health_check=NOW),
        Replica("b", healthy=True, created=1, last_health_check=NOW),
        Replica("a", healthy=True, created=1, last_health_check=NOW),
        Replica("unknown-age", healthy=True, created=None, last_health_check=NOW),
        Replica("from-the-future", healthy=True, created=NOW + 9, last_health_check=NOW),
        Replica("just-now", healthy=True, created=NOW, last_health_check=NOW),
    ]
    expected = ("unknown-age", "a", "b", "c", "from-the-future", "just-now")
    for order in itertools.islice(itertools.permutations(replicas), 0, 720, 37):
        assert muster(order, deployment(), NOW).healthy == expected


def test_replicas_asked_for_count_as_warming() -> None:
    counts = muster(healthy(2), deployment(), 0, asked=3).counts
    assert (counts.healthy, counts.warming) == (2, 3)
