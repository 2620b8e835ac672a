"""Step 8: the sliding window that keeps what was wished lately."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.replicas.window import WindowEntry, compact, released_at, slide, window_max
from tests.replicas.support import column, only, plan

CALM = {"p95_latency_ms": 250, "rps": 20}


def entries(*pairs: tuple[float, int]) -> tuple[WindowEntry, ...]:
    return tuple(WindowEntry(at, desired) for at, desired in pairs)


@pytest.mark.parametrize(
    ("stored", "after"),
    [
        (None, [(0, 6), (0, 3)]),
        ((), [(0, 3)]),
        (entries((-300, 9)), [(0, 6), (0, 3)]),
        (entries((-299.9, 9)), [(-299.9, 9), (0, 3)]),
        (entries((-900, 9), (-10, 4)), [(-10, 4), (0, 3)]),
        (entries((50, 9)), [(50, 9), (0, 3)]),
    ],
)
def test_first_sight_and_a_window_that_ran_out_start_with_what_is_healthy(
    stored: tuple[WindowEntry, ...] | None, after: list[tuple[float, int]]
) -> None:
    window = slide(stored, wish=3, healthy=6, window_seconds=300, now=0)
    assert [(entry.at, entry.desired) for entry in window] == after


@pytest.mark.parametrize("stored", [None, (), entries((-1, 9)), entries((0, 9)), entries((5, 9))])
def test_a_window_of_zero_is_this_tick_only_and_never_seeded(stored: tuple[WindowEntry, ...] | None) -> None:
    assert slide(stored, wish=3, healthy=6, window_seconds=0, now=0) == entries((0, 3))


def test_a_removal_waits_for_the_largest_wish_to_leave_and_says_when() -> None:
    run = plan({}, {"healthy": 6}, CALM, window=[{"at": -290, "desired": 6}, {"at": -200, "desired": 4}], ticks=3)
    assert column(run, "window_max") == [6, 6, 4]
    assert column(run, "stop") == [[], [], ["healthy-1"]]
    assert column(run, "next_possible_at") == [10, 10, None]


def test_an_entry_equal_to_the_healthy_count_holds_and_one_below_does_not() -> None:
    assert only(plan({}, {"healthy": 6}, CALM, window=[{"at": -1, "desired": 6}]))["stop"] == []
    assert only(plan({}, {"healthy": 6}, CALM, window=[{"at": -1, "desired": 5}]))["stop"] == ["healthy-1"]


def test_the_window_never_holds_an_add_back() -> None:
    run = plan({}, {"healthy": 4}, {"p95_latency_ms": 1000, "rps": 2}, window=[{"at": -1, "desired": 2}])
    assert only(run)["add"] == 4


def test_first_sight_holds_for_the_length_of_the_window() -> None:
    run = plan({"stabilization_window": 30}, {"healthy": 4}, CALM, window=..., ticks=8)
    assert column(run, "stop") == [[]] * 6 + [["healthy-1"], []]
    assert column(run, "next_possible_at")[0] == 30


def test_after_a_long_pause_the_window_starts_anew() -> None:
    run = plan({"paused": {"until": 400}}, {"healthy": 4}, CALM, window=[{"at": -5, "desired": 2}], ticks=2, every=400)
    assert run["ticks"][1]["window_max"] == 4
    assert run["ticks"][1]["stop"] == []


def test_ticks_further_apart_than_the_window_start_anew_each_time() -> None:
    run = plan({"stabilization_window": 10}, {"healthy": 4}, CALM, ticks=3, every=20)
    assert column(run, "window_max") == [2, 3, 3]
    assert column(run, "stop") == [["healthy-1"], [], []]


def test_floor_and_ceiling_ticks_write_their_wish() -> None:
    low = plan({"min_replicas": 3}, {"healthy": 2}, {"p95_latency_ms": 1000, "rps": 2})
    assert low["final"]["window"] == [{"at": 0, "desired": 4}]
    high = plan({"max_replicas": 3}, {"healthy": 4})
    assert high["final"]["window"] == [{"at": 0, "desired": 3}]


def test_both_spellings_of_the_setting_are_read() -> None:
    for key in ("stabilization_window", "stabilisation_window"):
        assert only(plan({key: 0}, {"healthy": 6}, CALM, window=...))["stop"] == ["healthy-1"]


windows = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9)), max_size=30).map(
    lambda pairs: entries(*((float(-age), desired) for age, desired in sorted(pairs, reverse=True)))
)


@given(window=windows, healthy=st.integers(0, 9), later=st.integers(0, 700))
def test_a_compact_window_decides_the_same_at_every_later_tick(
    window: tuple[WindowEntry, ...], healthy: int, later: int
) -> None:
    whole = slide(window, 2, healthy, 300, later)
    short = slide(compact(window), 2, healthy, 300, later)
    assert window_max(whole) == window_max(short)
    assert released_at(whole, healthy, 300) == released_at(short, healthy, 300)
    assert len(compact(window)) <= len(window)
    assert compact(compact(window)) == compact(window)
