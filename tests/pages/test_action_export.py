"""The filtered history as a file: whole, safe to open, and sent while other pages answer."""

import asyncio
import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext

from iris_web.pages import action_export
from scaling.audit import own_costs
from scaling.models import Action
from scaling.testing import builders

SignIn = Callable[[str], Client]


def body(answer: Any) -> str:
    return b"".join(answer).decode()


@pytest.fixture
def many(db: None, now: datetime, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Twenty-five drains, newest first, in portions of ten, among other actions."""
    monkeypatch.setattr(action_export, "PORTION_ROWS", 10)
    rows = Action.objects.bulk_create(
        Action(at=now, kind="drain" if n % 2 else "pause", group="g", reason=f"n{n}", after={"n": n}) for n in range(50)
    )
    return [row.pk for row in reversed(rows) if row.kind == "drain"]


def test_a_table_holds_every_action_of_the_filters_once(many: list[int], sign_in: SignIn) -> None:
    answer = sign_in("viewer").get("/actions/export.csv?kind=drain&group=g")
    text = body(answer)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="iris-actions-20260101T120000Z.csv"'
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [int(row["id"]) for row in rows] == many
    assert rows[0]["at"] == "2026-01-01T12:00:00.000000Z" and rows[0]["after"] == '{"n": 49}'
    assert tuple(rows[0]) == action_export.COLUMNS


def test_a_document_holds_the_same_with_its_values(many: list[int], sign_in: SignIn) -> None:
    rows = json.loads(body(sign_in("viewer").get("/actions/export.json?kind=drain")))
    assert [row["id"] for row in rows] == many
    assert rows[-1]["after"] == {"n": 1} and rows[-1]["before"] is None and rows[-1]["cause"] is None


def test_rows_tell_what_each_act_cost_and_what_took_it_back(
    db: None, now: datetime, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = builders.make_group("v5p", price_per_slice_hour=Decimal("2.5"))
    ready = builders.before(now, 5 * 3600)
    for name in ("a", "b"):
        builders.make_slice(group, now, name=name, requested_at=ready, ready_at=ready)
    builders.make_slice(builders.make_group("free"), now, name="c", requested_at=ready, ready_at=ready)
    who = {"group": "v5p", "actor_kind": "user", "actor": "ana"}
    drain = builders.make_action("drain", builders.before(now, 7200), **who)
    undrain = builders.make_action("undrain", builders.before(now, 3600), cause=drain, **who)
    builders.make_action("scale_up", now, slice="a", group="v5p")
    builders.make_action("scale_up", now, slice="c", group="free")
    builders.make_action("scale_up", now, slice="gone", group="v5p")

    def told() -> list[list[Any]]:
        rows = json.loads(body(sign_in("viewer").get("/actions/export.json")))
        columns = ("kind", "slice_hours", "device_hours", "cost", "currency", "taken_back_by")
        return [[row[name] for name in columns] for row in rows]

    expected = [
        ["scale_up", None, None, None, None, None],
        ["scale_up", 5, 20, None, None, None],
        ["scale_up", 5, 20, 12.5, "USD", None],
        ["undrain", None, None, None, None, None],
        ["drain", 2, 8, 5, "USD", undrain.pk],
    ]
    assert told() == expected
    text = body(sign_in("viewer").get("/actions/export.csv?kind=drain"))
    assert text.rstrip().endswith(f",2.0,8.0,5.0,USD,{undrain.pk}")
    monkeypatch.setattr(own_costs, "MOST_UNDRAINS", 1)
    assert told()[-1][1] == 2, "an end that was found is known"


def test_costs_take_as_many_statements_for_many_rows_as_for_few(db: None, now: datetime) -> None:
    group = builders.make_group("v5p")
    for number in range(12):
        builders.make_slice(group, now, name=f"s-{number}")
        builders.make_action("drain", now, group="v5p")
        builders.make_action("scale_up", now, group="v5p", slice=f"s-{number}")
    with CaptureQueriesContext(connection) as asked:
        found = action_export.records(list(Action.objects.all()), now)
    assert len(found) == 24 and len(asked) <= 6


def test_nothing_found_is_an_empty_table_or_list(db: None, sign_in: SignIn) -> None:
    assert json.loads(body(sign_in("viewer").get("/actions/export.json"))) == []
    assert body(sign_in("viewer").get("/actions/export.csv")).count("\n") == 1


def test_routine_is_left_out_as_on_the_page(db: None, now: datetime, sign_in: SignIn) -> None:
    builders.make_action("demand", now)
    builders.make_action("drain", now)

    def kinds(query: str) -> list[str]:
        return [row["kind"] for row in json.loads(body(sign_in("viewer").get(f"/actions/export.json{query}")))]

    assert kinds("") == ["drain"] and kinds("?routine=shown") == ["drain", "demand"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"])
def test_no_cell_is_a_formula(text: str, db: None, now: datetime, sign_in: SignIn) -> None:
    builders.make_action("drain", now, reason=text, actor=text)
    row = next(
        csv.DictReader(io.StringIO(body(sign_in("viewer").get("/actions/export.csv")).removeprefix("\ufeff"), ""))
    )
    assert row["reason"] == row["actor"] == f"'{text}"


def test_a_filter_that_cannot_be_meant_gives_no_file(db: None, sign_in: SignIn) -> None:
    answer = sign_in("viewer").get("/actions/export.csv?kind=bogus&nonsense=1")
    assert answer.status_code == 400
    assert "Kind: there is no “bogus”" in answer.content.decode()
    assert "The address asks for “nonsense”" in answer.content.decode()
    assert "No file was made" in answer.content.decode() and "left out" not in answer.content.decode()


@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_other_pages_answer_while_an_export_is_sent(many: list[int], people: dict[str, User]) -> None:
    async def story() -> tuple[list[int], int]:
        client, other = AsyncClient(), AsyncClient()
        await client.aforce_login(people["viewer"])
        await other.aforce_login(people["viewer"])
        answer: Any = await client.get("/actions/export.json?kind=drain")
        assert answer.is_async, "a server would otherwise read the whole file before it sends any of it"
        portions, answered = [], 0
        async for portion in answer.streaming_content:
            portions.append(portion.decode())
            answered += (await other.get("/healthz")).status_code == 200
        return [row["id"] for row in json.loads("".join(portions))], answered

    ids, answered = asyncio.run(story())
    assert ids == many and answered == 5, "a page between any two portions"


@pytest.mark.one_database
def test_a_portion_is_read_off_the_event_loop(db: None) -> None:
    async def story() -> tuple[list[str], bool]:
        on_loop, met = asyncio.get_running_loop(), []

        def portions() -> Iterator[str]:
            for part in ("a", "b"):
                try:
                    met.append(asyncio.get_running_loop() is on_loop)
                except RuntimeError:
                    met.append(False)
                yield part

        sent = [part async for part in action_export._in_threads(portions())]
        return sent, any(met)

    assert asyncio.run(story()) == (["a", "b"], False)
