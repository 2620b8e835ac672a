"""Bars: each to its own max, on a scale on which what is there can be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iris_web.pages import bars

amount = st.integers(0, 100_000)


def test_a_bar_ends_at_the_max_of_what_it_shows_not_at_the_largest_holder() -> None:
    small = bars.draw({"used": 4}, maximum=8)
    large = bars.draw({"used": 50}, maximum=1000)
    assert (small.parts, small.cut) == ((("used", 50),), False)
    assert (large.parts, large.cut) == ((("used", 5),), False)


def test_parts_follow_each_other_in_their_order() -> None:
    bar = bars.draw({"used": 2, "free": 1, "booting": 0, "requesting": 1}, maximum=8)
    assert bar.parts == (("used", 25), ("free", 13), ("requesting", 12))


def test_the_floor_is_marked_where_it_stands_under_max() -> None:
    assert bars.draw({}, maximum=8, minimum=2).minimum_at == 25
    assert bars.draw({"used": 8}, maximum=8).minimum_at is None


@pytest.mark.parametrize(
    ("held", "maximum", "end"),
    [(5, 100, 100), (1, 20, 20), (1, 21, 5), (3, 1000, 20), (12, 100_000, 50), (0, 100_000, 100_000), (7, 0, 0)],
)
def test_a_bar_whose_max_is_far_off_ends_at_a_round_number_and_is_cut(held: int, maximum: int, end: int) -> None:
    assert bars.scale_of(held, maximum) == end
    assert bars.draw({"used": held}, maximum).cut == (0 < end < maximum)


def test_more_than_max_fills_the_bar() -> None:
    bar = bars.draw({"used": 6, "leaving": 4}, maximum=5, blocked=0)
    assert bar.parts == (("used", 60), ("leaving", 40)) and not bar.cut and not bar.blocked


def test_headroom_that_may_not_be_bought_is_hatched_up_to_the_end() -> None:
    assert bars.draw({"used": 2}, maximum=8, blocked=6).blocked == 75
    assert bars.draw({"used": 2}, maximum=8, blocked=3).blocked == 38


@given(st.lists(amount, min_size=5, max_size=5), amount, amount, st.floats(0, 1))
def test_a_bar_is_never_over_full_and_nothing_that_is_there_is_invisible(
    held: list[int], maximum: int, minimum: int, share: float
) -> None:
    names = ("used", "free", "booting", "requesting", "leaving")
    headroom = max(0, maximum - sum(held))
    bar = bars.draw(dict(zip(names, held, strict=True)), maximum, int(share * headroom), minimum)
    assert [name for name, _ in bar.parts] == [name for name, number in zip(names, held, strict=True) if number]
    assert all(width >= 1 for _, width in bar.parts)
    assert sum(width for _, width in bar.parts) + bar.blocked <= 100
    assert bar.minimum_at is None or 1 <= bar.minimum_at <= 100
    assert not bar.cut or sum(width for _, width in bar.parts) <= 30
