"""Section 4: the filter chain and what it surfaces."""

import pytest

from scaling.autoscaler.models import Outcome
from tests.autoscaler.cluster import SLOW, booting, job, marker, play, ready, tpu

CHAIN = [outcome.value for outcome in Outcome if outcome is not Outcome.AVAILABLE]


def test_every_check_has_a_verdict_in_the_order_of_the_chain() -> None:
    played = play(groups=[tpu("t")])

    assert list(played.group("t")["checks"]) == CHAIN
    assert not any(played.group("t")["checks"].values())
    assert played.outcome("t") == "AVAILABLE"


def test_later_checks_keep_their_verdict_behind_the_first_that_fails() -> None:
    played = play(
        groups=[tpu("t", max_slices=1)],
        slices=[ready("s", "t", idle=None)],
        markers=[marker("t", "stockout"), marker("t", "quota", until=240)],
    )
    checks = played.group("t")["checks"]

    assert played.outcome("t") == "CAPACITY_EXCEEDED"
    assert [name for name in CHAIN if checks[name]] == ["CAPACITY_EXCEEDED", "QUOTA_EXCEEDED", "STOCKOUT"]


@pytest.mark.parametrize(
    ("events", "markers", "outcome"),
    [
        ([{"at": 1, "pause_group": "t"}, {"at": 2, "drain_group": "t"}], [], "DRAINING"),
        ([{"at": 1, "pause_group": "t"}], [marker("t", "permanent")], "PAUSED"),
        ([], [marker("t", "permanent"), marker("t", "quota", until=240)], "CREATE_REFUSED"),
        ([], [marker("t", "quota", until=240), marker("t", "backoff", until=500)], "QUOTA_EXCEEDED"),
        ([], [marker("t", "backoff", until=500), marker("t", "stockout")], "BACKOFF"),
    ],
)
def test_what_comes_first_in_the_chain_names_the_outcome(
    events: list[object], markers: list[object], outcome: str
) -> None:
    assert play(groups=[tpu("t")], markers=markers, events=events, cycles=2).outcome("t", 1) == outcome


def test_min_above_max_is_met_with_max_winning() -> None:
    played = play(groups=[tpu("t", min_slices=5, max_slices=2)])

    assert played.up("t") == 2
    assert played.group("t")["target"] == 2


def test_capacity_and_quota_are_those_of_the_start_and_never_below_zero() -> None:
    played = play(
        groups=[tpu("t", max_slices=1, quota_pool="p")],
        quota_pools=[{"name": "p", "limit": 4}],
        slices=[booting("a", "t"), booting("b", "t")],
        cloud=SLOW,
    )

    assert played.group("t")["capacity_remaining"] == 0
    assert played.group("t")["quota_remaining"] == 0


def test_a_group_without_a_pool_has_no_quota() -> None:
    assert play(groups=[tpu("t")]).group("t")["quota_remaining"] is None


def test_expiries_are_told_only_while_they_hold() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[marker("t", "stockout", until=15), marker("t", "backoff", until=25)],
        cycles=4,
    )

    assert [played.group("t", n)["stockout_until"] for n in range(4)] == [15, 15, None, None]
    assert [played.group("t", n)["backoff_expires_at"] for n in range(4)] == [25, 25, 25, None]


def test_a_marker_is_over_at_its_until() -> None:
    played = play(groups=[tpu("t")], markers=[marker("t", "stockout", until=10)], cycles=2)

    assert played.outcomes("t") == ["STOCKOUT", "AVAILABLE"]


def test_slices_are_counted_by_state_before_this_cycles_buying() -> None:
    played = play(
        groups=[tpu("t", min_slices=4)],
        slices=[ready("r", "t"), booting("b", "t"), booting("q", "t", state="REQUESTING")],
        cloud=SLOW,
        cycles=2,
    )

    assert played.group("t")["slices"] == {
        "REQUESTING": 1,
        "BOOTING": 1,
        "READY": 1,
        "DRAINING": 0,
        "TERMINATING": 0,
    }
    assert played.group("t", 1)["slices"]["BOOTING"] == 2


def test_backoff_skipped_counts_groups_that_demand_wanted() -> None:
    wanted = play(
        groups=[tpu("a", priority=1), tpu("b", priority=2)],
        markers=[marker("a", "backoff", until=100)],
        jobs=[job("j1", 2), job("j2", 2, submitted=-5)],
        cycles=2,
        cloud=SLOW,
    )
    unwanted = play(
        groups=[tpu("a", priority=3), tpu("b", priority=2)],
        markers=[marker("a", "backoff", until=100)],
        jobs=[job("j1", 2)],
    )
    full = play(groups=[tpu("a", max_slices=0)], markers=[marker("a", "backoff", until=100)], jobs=[job("j1", 2)])

    assert wanted.totals["backoff_skipped"] == 1  # in the second cycle all tasks have slices in flight
    assert unwanted.totals["backoff_skipped"] == 0
    assert full.totals["backoff_skipped"] == 0


def test_a_pause_is_over_at_its_until() -> None:
    played = play(groups=[tpu("t")], events=[{"at": 5, "pause_group": "t", "until": 20}], cycles=3)

    assert played.outcomes("t") == ["AVAILABLE", "PAUSED", "AVAILABLE"]
