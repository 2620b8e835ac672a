"""What an address may say, and what becomes of what it may not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from iris_web.pages import actions, demand, groups, stockouts
from iris_web.pages.names import holding, with_words_told, words_in
from iris_web.pages.url_params import Kind, PageState, Param, parse_span, parse_time
from scaling.models import Group
from scaling.testing import builders
from scaling.testing.sample_deployments import make_deployment
from tests.pages.conftest import Get

PARAMS = (
    Param("q", "Search"),
    Param("kind", "Kind", Kind.CHOICE, (("", "any"), ("drain", "Drain"), ("pause", "Pause"))),
    Param("sort", "Order", Kind.CHOICE, (("name", "by name"), ("age", "by age")), default="name", shown=False),
    Param("cycle", "Cycle", Kind.NUMBER),
    Param("from", "From", Kind.TIME),
    Param("span", "Time", Kind.SPAN),
    Param("after", "Place", Kind.CURSOR, shown=False),
)


def read(**given: str) -> PageState:
    return PageState.read(PARAMS, given)


def test_an_address_without_parameters_is_the_default() -> None:
    state = read()
    assert state["sort"] == "name" and state["q"] == ""
    assert state.address() == "?" and not state.filtered


def test_a_changed_filter_keeps_the_others_and_drops_the_place_in_the_list() -> None:
    state = read(q="a b", kind="drain", after="abc")
    assert state.address(kind="pause") == "?q=a+b&kind=pause"
    assert state.address(after="xyz") == "?q=a+b&kind=drain&after=xyz"


def test_every_filter_in_force_has_an_address_without_it() -> None:
    state = read(q="x", kind="drain", sort="age")
    assert [(item.label, item.value, item.without) for item in state.filters] == [
        ("Search", "x", "?kind=drain&sort=age"),
        ("Kind", "Drain", "?q=x&sort=age"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("kind", "dance", "Kind: there is no “dance”; expected one of drain, pause."),
        ("cycle", "-4", "Cycle: “-4” is not a whole number."),
        ("cycle", "9" * 30, "is not a whole number"),
        ("from", "yesterday", "From: “yesterday” is not a time"),
        ("span", "5 weeks", "Time: “5 weeks” is not a duration"),
        ("q", "x" * 301, "Search: expected at most 300 characters."),
    ],
)
def test_a_value_that_cannot_be_meant_is_named_and_counts_as_unset(name: str, value: str, words: str) -> None:
    state = read(**{name: value})
    assert words in state.problems[name]
    assert state[name] == ""


def test_a_parameter_given_twice_is_told_and_the_last_counts() -> None:
    state = PageState.read(PARAMS, QueryDict("kind=pause&kind=drain&q=a&q=a"))
    assert state["kind"] == "drain" and state["q"] == "a"
    assert list(state.problems.values()) == ["Kind: the address has kind 2 times; only the last, “drain”, counts."]


def test_a_search_looks_for_each_word_once_and_for_eight_at_most_which_is_told() -> None:
    assert words_in("b A a " + "b " * 99) == ["b", "A"]
    state = with_words_told(read(q="a A b c d e f g h i j"))
    assert state.problems["q"] == "Search: only the first 8 words count, without “i j”."
    assert state["q"] and holding(state["q"], "name") == holding("a b c d e f g h", "name")
    assert not with_words_told(read(q="a b")).problems


@pytest.mark.parametrize("path", ["/demand/", "/deployments/", "/search/", "/groups/"])
def test_every_list_tells_which_words_of_a_search_do_not_count(path: str, see: Get) -> None:
    assert "only the first 8 words count, without “i”." in see(f"{path}?q=a+b+c+d+e+f+g+h+i")


def test_what_holds_nothing_that_is_seen_and_what_is_no_place_is_told() -> None:
    assert "Search: “\ufffd” has nothing in it that can be seen." in read(q="\x00").problems["q"]
    state = read(after="zzz", kind="drain").placed(str.isdigit)
    assert state["after"] == "" and "“zzz” is no place in this list; here is its beginning." in state.problems["after"]
    assert read(after="5").placed(str.isdigit)["after"] == "5"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/actions/?before=zzz", "“zzz” is no place in this list"),
        ("/actions/?after=-5", "“-5” is no place in this list"),
        ("/actions/?q=%00", "has nothing in it that can be seen"),
        ("/actions/?page=99", "which this page does not know; its pages have no numbers."),
        ("/demand/?after=garbage", "“garbage” is no place in this list"),
        ("/stockouts/?before=garbage", "“garbage” is no place in this list"),
        ("/deployments/?after=garbage", "“garbage” is no place in this list"),
        ("/deployments/chat/?after=garbage", "“garbage” is no place in this list"),
        ("/deployments/chat/?range=99y", "Range: there is no “99y”"),
        ("/groups/?page=99", "There is no page 99; this is the last, 1."),
        ("/groups/tpu-v5-8/?page=99", "There is no page 99; this is the last, 1."),
        ("/groups/tpu-v5-8/?page=x", "Page: “x” is not a whole number."),
        ("/groups/tpu-v5-8/?pag=2", "which this page does not know"),
    ],
)
def test_every_page_tells_what_of_its_address_it_could_not_follow(
    path: str, told: str, group: Group, now: datetime, see: Get
) -> None:
    make_deployment("chat", now)
    builders.make_slice(group, now, name="s")
    assert told in see(path)


def test_times_without_a_zone_are_utc() -> None:
    assert parse_time("2026-05-31T18:30") == datetime(2026, 5, 31, 18, 30, tzinfo=UTC)
    assert parse_time("2026-05-31T18:30+02:00") == datetime(2026, 5, 31, 16, 30, tzinfo=UTC)
    assert parse_time("2026-05-31") == datetime(2026, 5, 31, tzinfo=UTC)
    assert parse_time("1780245000") == datetime(2026, 5, 31, 16, 30, tzinfo=UTC)
    assert parse_time("31.5.2026") is parse_time("2026") is parse_time("99999999999999") is None


def test_spans_are_minutes_hours_and_days() -> None:
    assert parse_span("30min") == timedelta(minutes=30)
    assert parse_span("24h") == timedelta(days=1)
    assert parse_span("7d") == timedelta(days=7)
    assert parse_span("0h") is None and parse_span("h") is None


@given(st.dictionaries(st.sampled_from([param.name for param in PARAMS]), st.text(max_size=400)))
def test_any_address_can_be_read_and_written_again(given_values: dict[str, str]) -> None:
    state = PageState.read(PARAMS, given_values)
    again = PageState.read(PARAMS, QueryDict(state.query))
    assert again.values == state.values and not again.problems


@pytest.mark.parametrize("page", [actions, demand, groups, stockouts])
def test_the_parameters_of_a_page_have_names_of_their_own(page: object) -> None:
    names = [param.name for param in page.PARAMS]  # type: ignore[attr-defined]
    assert len(names) == len(set(names))


def test_a_name_that_the_page_does_not_know_is_told_with_the_nearest_that_it_does() -> None:
    near = PageState.read(PARAMS, {"kid": "ok", "x" * 400: "1"})
    told = list(near.problems.values())
    assert told[0].startswith("The address asks for “kid”, which this page does not know; did you mean kind?")
    assert len(told) == 2 and len(told[1]) < 200
    assert near.query == "", "it is left out of every further address"


@pytest.mark.parametrize(
    ("page", "theirs", "own"),
    [
        (actions, "since", "from"),
        (groups, "cursor", "page"),
        (groups, "quota_pool", "pool"),
        (stockouts, "acknowledged", "owner"),
        (demand, "hint", "code"),
    ],
)
def test_a_name_of_the_api_is_told_with_the_pages_own(page: Any, theirs: str, own: str) -> None:
    (told,) = PageState.read(page.PARAMS, {theirs: "1"}).problems.values()
    assert told.endswith(f"; did you mean {own}?")
