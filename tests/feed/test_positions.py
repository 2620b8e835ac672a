"""Cursors: what the feed gives out it reads again; anything else is refused in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.feed import BadCursor, Position

numbers = st.integers(0, 2**63 - 1)


@given(numbers, numbers)
def test_a_cursor_is_read_back_as_the_place_it_was_given_for(xid: int, number: int) -> None:
    assert Position.parse(str(Position(xid, number))) == Position(xid, number)


@given(st.tuples(numbers, numbers), st.tuples(numbers, numbers))
def test_places_compare_by_transaction_and_then_by_id(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (Position(*one) < Position(*other)) == (one < other)


@pytest.mark.parametrize("text", ["", "-", "1-", "-1", "1-2-3", "abc", "1 ", "１", "9" * 19, "1-" + "9" * 30, "1;drop"])
def test_a_text_that_is_no_cursor_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadCursor, match="cursor: expected one that the feed gave out"):
        Position.parse(text)
