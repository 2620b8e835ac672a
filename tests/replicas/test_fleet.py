"""The checker is down, not the fleet: more than half of at least ten go stale together."""

import pytest

from scaling.replicas.fleet import check_fleet
from scaling.replicas.replica import Replica
from tests.replicas.support import column, only, plan


def fleet(stale: int, fresh: int, **changes: object) -> list[Replica]:
    ages = [61.0] * stale + [10.0] * fresh
    return [
        Replica(f"r{number}", healthy=True, created=-9000, last_health_check=-age, **changes)  # type: ignore[arg-type]
        for number, age in enumerate(ages)
    ]


@pytest.mark.parametrize(
    ("stale", "fresh", "unknown"),
    [(6, 4, True), (5, 5, False), (9, 0, False), (10, 0, True), (6, 5, True), (5, 6, False), (501, 499, True)],
)
def test_the_thresholds(stale: int, fresh: int, unknown: bool) -> None:
    assert check_fleet(fleet(stale, fresh), 0).unknown is unknown


def test_failed_and_leaving_replicas_are_out_of_service() -> None:
    gone = [Replica(f"x{n}", status, last_health_check=-900) for n, status in enumerate(["failed", "stopped"] * 20)]
    check = check_fleet([*fleet(5, 5), *gone], 0)
    assert (check.replicas, check.stale) == (10, 5)


def test_a_replica_without_any_check_is_stale_only_if_it_was_healthy_once() -> None:
    starting = [Replica(f"n{n}", "pending", created=-9000) for n in range(20)]
    lost = [Replica(f"l{n}", healthy=True, was_healthy=True, created=-9000) for n in range(21)]
    assert not check_fleet(starting, 0).unknown
    assert check_fleet([*starting, *lost], 0).unknown


def test_unhealthy_replicas_with_fresh_checks_are_known() -> None:
    assert only(plan({}, {"healthy": 4, "unhealthy": 12}))["gate"] is None


def listed(stale: int, fresh: int) -> list[dict[str, object]]:
    ages = [61] * stale + [10] * fresh
    return [{"id": f"r{n}", "healthy": True, "created": -9000, "last_health_check": -age} for n, age in enumerate(ages)]


def test_in_a_scenario_the_list_is_the_fleet_and_nothing_moves() -> None:
    tick = only(plan({"min_replicas": 8}, listed(6, 4), {"p95_latency_ms": 2000, "rps": 20}))
    assert tick["gate"] == "fleet_unknown"
    assert "6 of 10" in tick["reason"]
    assert (tick["add"], tick["stop"], tick["sent"], tick["desired"]) == (0, [], False, None)


def test_nine_stale_replicas_are_just_unhealthy() -> None:
    tick = only(plan({}, listed(9, 0)))
    assert tick["counts"]["unhealthy"] == 9
    assert tick["add"] == 1


def test_the_gate_opens_when_the_checker_is_back() -> None:
    run = plan({}, listed(0, 10), ticks=4, timeline=[{"at": 5, "replicas": listed(10, 0), "for": 10}])
    assert column(run, "gate") == [None, "fleet_unknown", "fleet_unknown", None]
    assert column(run, "stop") == [[], [], [], []]
    assert [entry["at"] for entry in run["final"]["window"]] == [0, 15]
