"""Actions are found by words and filters, alike on both databases, and nothing that is typed is an error."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from iris_web.pages.routine import ROUTINE
from scaling.audit import matching
from scaling.audit.matching import Wanted
from scaling.audit.words import phrases
from scaling.models import ROUTINE_KINDS, Action
from scaling.once import asking_once
from scaling.testing import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def history(now: datetime) -> dict[str, int]:
    """name → id, oldest first."""
    rows: dict[str, dict[str, Any]] = {
        "up": {"kind": "scale_up", "group": "tpu_v5p-64-us", "slice": "slice-a1b2", "reason": "deficit of 2"},
        "ready": {"kind": "slice_ready", "group": "tpu_v5p-64-us", "slice": "slice-a1b2", "reason": "booted"},
        "failed": {"kind": "create_failed", "group": "gpu-h100", "outcome": "failed", "reason": "No MORE capacity"},
        "drain": {"kind": "drain", "group": "gpu-h100", "actor_kind": "user", "actor": "ana@example.com",
                  "source": "page", "reason": "rack 4, then 64 v5p"},
        "demand": {"kind": "demand", "target": "source slurm", "actor_kind": "token", "actor": "slurm",
                   "source": "api"},
        "quota": {"kind": "set_quota", "target": "pool ärger", "actor_kind": "user", "actor": "bo", "source": "shell"},
    }  # fmt: skip
    return {
        name: builders.make_action(columns.pop("kind"), now + timedelta(hours=3 * n), **columns).pk
        for n, (name, columns) in enumerate(rows.items())
    }


def names(history: dict[str, int], wanted: Wanted) -> list[str]:
    found = matching.ids(wanted, 100)
    assert found == sorted(found, reverse=True)
    assert matching.ids(wanted, 100, oldest_first=True) == found[::-1]
    assert matching.among(wanted, list(history.values())) == found[::-1]
    return [name for pk in found[::-1] for name, known in history.items() if known == pk]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v5p-64", ["up", "ready"]),
        ("V5P 64", ["up", "ready", "drain"]),
        ("tpu_v5p-64-us", ["up", "ready"]),
        ("slice-a1b2", ["up", "ready"]),
        ("a1b2", ["up", "ready"]),
        ("a1b", ["up", "ready"]),
        ("slice-a1", ["up", "ready"]),
        ("ana@example.com", ["drain"]),
        ("example.com", ["drain"]),
        ("ana@exa", ["drain"]),
        ("scale up", ["up"]),
        ("scale_up", ["up"]),
        ("capacity more", ["failed"]),
        ('"more capacity"', ["failed"]),
        ('"capacity more"', []),
        ('"more cap"', []),
        ("ärger", ["quota"]),
        ("ÄRG", ["quota"]),
        ("failed", ["failed"]),
        ("slurm", ["demand"]),
        ("drain -rack", ["drain"]),
        ("b", []),
        ("2", ["up"]),
        ("nosuchword", []),
        ("...", []),
        ("", ["up", "ready", "failed", "drain", "demand", "quota"]),
    ],
)
def test_words_find_what_a_person_expects(history: dict[str, int], text: str, expected: list[str]) -> None:
    assert names(history, Wanted(text=text)) == expected


@pytest.mark.parametrize(
    "text",
    ['"', '""', '"rack', 'rack"', "AND", "NOT rack", "rack OR", "NEAR(rack 4)", "(rack", "rack*", "*", "words:rack",
     "-rack", "a:b & !c | <->", "'", "rack'); DROP TABLE x; --", "\\", "%s", "%", "^rack", "🦊", "ß", "١٢"],
)  # fmt: skip
def test_nothing_that_is_typed_is_an_operator_or_an_error(history: dict[str, int], text: str) -> None:
    matching.ids(Wanted(text=text), 10)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40))
def test_any_text_is_a_search(text: str) -> None:
    matching.ids(Wanted(text=text.replace("\x00", "").encode("utf-8", "ignore").decode()), 1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("abe019-_@./xv", min_size=1, max_size=24))
def test_a_stored_name_is_found_by_itself_and_by_its_beginning(name: str) -> None:
    row = builders.make_action(
        "drain", builders.before(datetime.fromisoformat("2026-01-01T00:00+00:00"), 0), group=name
    )
    for text in (name, re.sub(r"[^a-z0-9]+$", "", name)):
        if phrases(text):
            assert row.pk in matching.ids(Wanted(text=text), 1000), text


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted({"kind": "drain"}), ["drain"]),
        (Wanted({"group": "gpu-h100"}), ["failed", "drain"]),
        (Wanted({"group": "gpu-h100", "outcome": "failed"}), ["failed"]),
        (Wanted({"group": "GPU-h100"}), []),
        (Wanted({"actor": "ana@example.com", "kind": "drain", "source": "page"}), ["drain"]),
        (Wanted({"target": "pool ärger"}), ["quota"]),
        (Wanted({"target": "pool ärger"}, routine=False), ["quota"]),
        (Wanted({"actor_kind": "token"}), ["demand"]),
        (Wanted({"actor_kind": "token"}, routine=False), []),
        (Wanted(people=True), ["drain", "demand", "quota"]),
        (Wanted(people=True, routine=False), ["drain", "quota"]),
        (Wanted(people=False), ["up", "ready", "failed"]),
        (Wanted({"group": "gpu-h100"}, people=False), ["failed"]),
        (Wanted({"group": "gpu-h100"}, text="rack"), ["drain"]),
        (Wanted({"kind": "scale_up"}, text="capacity"), []),
        (Wanted(text="slurm", routine=False), []),
    ],
)
def test_filters_and_words_hold_together(history: dict[str, int], wanted: Wanted, expected: list[str]) -> None:
    assert names(history, wanted) == expected


@pytest.mark.parametrize("text", ["", "v5p"])
def test_times_hold_together_with_the_rest(history: dict[str, int], now: datetime, text: str) -> None:
    def at(hours: float) -> datetime:
        return now + timedelta(hours=hours)

    both = ("up", "ready", "drain")
    for since, until in ((0, 3), (3, 10), (2.5, 3.5), (9, 9), (-9, -5), (40, 50), (-10, 50)):
        inside = [name for n, name in enumerate(history) if since <= 3 * n < until and (not text or name in both)]
        assert names(history, Wanted(text=text, since=at(since), until=at(until))) == inside, (since, until)


def test_an_action_that_a_wrong_clock_dated_hides_no_other(now: datetime) -> None:
    wrong = builders.make_action("drain", now + timedelta(days=300))
    right = builders.make_action("drain", now)
    builders.make_action("drain", now - timedelta(days=300))
    assert matching.ids(Wanted(until=now + timedelta(hours=2), since=now), 9) == [right.pk]
    assert matching.ids(Wanted(since=now + timedelta(days=1)), 9) == [wrong.pk]


def test_cycle_and_cause_are_filters_too(now: datetime) -> None:
    cause = builders.make_action("drain", now, cycle=7)
    effect = builders.make_action("scale_down", now, cause=cause, cycle=8, reason="idle")
    assert matching.ids(Wanted(cycle=7), 9) == [cause.pk]
    assert (
        matching.ids(Wanted(cause=cause.pk), 9) == matching.ids(Wanted(cause=cause.pk, text="idle"), 9) == [effect.pk]
    )


@pytest.mark.parametrize("text", ["", "common"])
def test_pages_meet_every_row_once_both_ways(now: datetime, text: str) -> None:
    rows = Action.objects.bulk_create(
        Action(at=now, kind="scale_up", reason="common" if n % 3 else "other") for n in range(61)
    )
    expected = [row.pk for row in reversed(rows) if not text or row.reason == "common"]
    wanted, seen = Wanted(text=text), list[int]()
    page = matching.page(wanted, 7)
    assert not page.newer
    while True:
        seen += page.ids
        if not page.older:
            break
        page = matching.page(wanted, 7, after=page.ids[-1])
        assert page.newer
    assert seen == expected
    page, back = matching.page(wanted, 7, before=0), list[int]()
    assert not page.older and page.ids == expected[-7:]
    while True:
        back = page.ids + back
        if not page.newer:
            break
        page = matching.page(wanted, 7, before=page.ids[0])
        assert page.older
    assert back == expected


def test_the_index_follows_what_leaves(history: dict[str, int]) -> None:
    from tests.audit.conftest import unguarded

    with unguarded(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM scaling_action WHERE id = %s", [history["up"]])
    assert names(history, Wanted(text="v5p-64")) == ["ready"]
    assert names(history, Wanted({"kind": "scale_up"}, routine=False)) == []


def test_kinds_are_counted_over_the_newest(history: dict[str, int]) -> None:
    assert matching.newest(Wanted(), 100).kinds["drain"] == 1
    assert set(matching.newest(Wanted(), 2).kinds) == {"demand", "set_quota"}
    assert not matching.newest(Wanted(text="nosuchword"), 10).found


def test_a_long_reason_is_stored_and_found_by_its_beginning(now: datetime) -> None:
    long = "begin " + "word " * 300_000
    row = builders.make_action("drain", now, reason=long)
    assert matching.ids(Wanted(text="begin"), 9) == [row.pk]


def test_the_pages_words_for_routine_are_for_the_kinds_that_the_index_leaves_out() -> None:
    assert tuple(ROUTINE) == ROUTINE_KINDS
    assert not Action.objects.filter(~Q(kind__in=ROUTINE_KINDS)).exists()


@pytest.mark.postgres
def test_words_are_found_beyond_the_nearest_rows_in_order(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Action.objects.bulk_create(
        Action(at=now, kind="scale_up", reason="common" if n % 3 else "other") for n in range(61)
    )
    expected = [row.pk for row in reversed(rows) if row.reason == "common"]
    for nearest in (1, 4, 30):
        monkeypatch.setattr(matching, "NEAREST", nearest)
        assert matching.ids(Wanted(text="common"), 100) == expected
        assert matching.ids(Wanted(text="common"), 100, oldest_first=True) == expected[::-1]
        assert matching.ids(Wanted(text="common"), 7, below=expected[9]) == expected[10:17]
        assert matching.ids(Wanted(text="common"), 7, above=expected[9], oldest_first=True) == expected[2:9][::-1]
        assert len(matching.newest(Wanted(text="common"), 100).found) == len(expected)


def test_a_page_that_remembers_asks_once_and_tells_the_same(
    now: datetime, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    pks = [row.pk for row in Action.objects.bulk_create(Action(at=now, kind="scale_up") for _ in range(9))][::-1]
    wanted = Wanted(exact={"kind": "scale_up"})
    with asking_once():
        assert not matching.newest(wanted, 4).whole
        with django_assert_num_queries(0):
            assert matching.ids(wanted, 3) == pks[:3]
            assert matching.ids(wanted, 2, below=pks[1]) == pks[2:4]
        assert matching.ids(wanted, 5) == pks[:5], "more than is known is asked for"
        assert matching.ids(wanted, 2, oldest_first=True) == pks[::-1][:2]
        assert matching.newest(wanted, 20).whole
        with django_assert_num_queries(0):
            assert matching.ids(wanted, 2, above=pks[5], oldest_first=True) == [pks[4], pks[3]]
            assert matching.page(wanted, 4, before=0).ids == pks[-4:]
    with django_assert_num_queries(1):
        matching.ids(wanted, 3)
