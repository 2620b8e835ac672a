"""The real hour in virtual time: the bounds of `benchmarks.azure_hour` hold, and a seed gives the same hour again."""

import pytest

from benchmarks.azure_hour import LEAST_PEAK, LEAST_SCALE_UPS, Hour, misses, run_fixed, run_scaled
from scaling.testing.fleet.load import TRACE_FILE, read_trace
from tests.services.inputs import DATA, published


@pytest.fixture(scope="module")
def times() -> tuple[float, ...]:
    return read_trace(published(DATA / TRACE_FILE))


@pytest.fixture(scope="module")
def hour(times: tuple[float, ...]) -> Hour:
    return run_scaled(times, seed=1)


def test_the_hour_needs_many_replicas_and_gets_them_in_steps(hour: Hour) -> None:
    assert hour.peak >= LEAST_PEAK
    assert hour.scale_ups >= LEAST_SCALE_UPS


def test_it_turns_around_at_most_once_in_a_stabilisation_window(hour: Hour) -> None:
    assert hour.most_reversals <= 1


def test_less_time_is_above_target_than_in_a_fixed_fleet_of_equal_replica_hours(
    times: tuple[float, ...], hour: Hour
) -> None:
    fixed = run_fixed(times, hour.replicas, seed=1)
    assert 0 < hour.above.share <= fixed.share
    assert misses(hour, fixed) == []


def test_every_action_says_why(hour: Hour) -> None:
    assert all(act.reason for act in hour.acts)


def test_the_same_seed_gives_the_same_hour(times: tuple[float, ...], hour: Hour) -> None:
    assert run_scaled(times, seed=1) == hour
