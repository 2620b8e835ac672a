"""What a client may say: read strictly, refused in one sentence, never trusted."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iris_web.access import Role
from iris_web.live import hello
from scaling.feed import Position
from tests.live import pages

assert pages.COUNTS


def read(**message: Any) -> hello.Hello:
    return hello.read(json.dumps({"type": "hello", **message}), Role.VIEWER)


def test_a_hello_names_what_is_shown_and_how_new_it_is() -> None:
    said = read(
        cursor="7-5", fragments=[{"name": "test.group", "params": {"name": "a"}, "asof": "6-1"}], topics=["cycle"]
    )
    (one,) = said.shown
    assert said.cursor == Position(7, 5)
    assert (one.asof, one.topics, one.key.params) == (Position(6, 1), {"group:a"}, (("name", "a"),))
    assert said.topics == {"cycle"}
    assert said.refusals == ()


def test_a_list_has_its_events_sent_and_another_fragment_has_not() -> None:
    said = read(fragments=[{"name": "test.rows"}, {"name": "test.group", "params": {"name": "a"}}])
    assert said.topics == {"rows"}


def test_a_fragment_without_a_time_of_its_own_is_as_new_as_the_page() -> None:
    assert read(cursor="9", fragments=[{"name": "test.rows"}]).shown[0].asof == Position(0, 9)


@pytest.mark.parametrize(
    "topic", ["", "Groups", "group:", "group:" + "x" * 201, "group:\x00", "a b", 7, None, "drop table;"]
)
def test_what_is_no_topic_is_refused(topic: Any) -> None:
    with pytest.raises(hello.MalformedError, match="topics: expected names of topics"):
        read(topics=[topic])


def test_too_long_a_list_is_refused() -> None:
    with pytest.raises(hello.MalformedError, match="fragments: expected a list of at most 200"):
        read(fragments=[{"name": "test.rows"}] * 201)


def test_a_parameter_that_is_too_long_is_refused_for_its_fragment_alone() -> None:
    said = read(fragments=[{"name": "test.rows", "params": {"kind": "x" * 2001}}, {"name": "test.rows"}])
    assert len(said.shown) == 1
    assert "kind: expected a text of at most 2000 characters" in said.refusals[0]


def test_a_parameter_that_no_database_takes_is_refused() -> None:
    assert len(read(fragments=[{"name": "test.rows", "params": {"kind": "a\x00b"}}]).refusals) == 1


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.fixed_dictionaries({}, optional={"cursor": anything, "topics": anything, "fragments": anything}))
def test_whatever_is_said_is_read_or_refused_in_one_sentence(message: dict[str, Any]) -> None:
    try:
        read(**message)
    except hello.MalformedError as refused:
        assert "expected" in str(refused)
        assert "\n" not in str(refused)


@given(st.text(max_size=60))
def test_a_text_that_is_no_hello_is_refused(text: str) -> None:
    with pytest.raises(hello.MalformedError):
        hello.read(text, Role.ADMIN)


def test_a_text_nested_without_end_is_refused() -> None:
    with pytest.raises(hello.MalformedError, match="expected JSON"):
        hello.read("[" * 100_000, Role.VIEWER)
