"""The chart of a group: what its cycles saw, minute by minute; where no cycle came, nothing is known."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from iris_web.pages.group_charts import RANGES
from scaling.clock import FrozenClock
from scaling.grid import Grid
from scaling.group_history import read_group_history
from scaling.history import Actor
from scaling.models import Group, GroupSample
from scaling.operations import drain_group
from scaling.testing import builders

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]
PATH = "/groups/v5p/series"


@pytest.fixture
def group(now: datetime) -> Group:
    made = builders.make_group("v5p", max_slices=4)
    builders.make_status(made, now)
    return made


def sample(group: Group, at: datetime, ready: int, in_flight: int = 0, demand: int = 0, max_slices: int = 4) -> None:
    GroupSample.objects.create(
        group=group, at=at, ready=ready, in_flight=in_flight, demand=demand, max_slices=max_slices
    )


def fetch(sign_in: SignIn, query: str = "?range=1h") -> dict[str, Any]:
    answer = sign_in("viewer").get(PATH + query)
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def values(told: dict[str, Any], label: str) -> list[float | None]:
    lines = told["charts"]["slices"]["series"]
    return next(line["values"] for line in lines if line["label"] == label)


def test_a_sample_stands_until_the_next_one(group: Group, now: datetime, sign_in: SignIn) -> None:
    sample(group, now - timedelta(days=2), 1)
    sample(group, now - timedelta(minutes=10), 2, 1, 3)
    sample(group, now - timedelta(minutes=4), 3, 0, 3, 5)
    told = fetch(sign_in)
    assert values(told, "ready") == [1.0] * 49 + [2.0] * 6 + [3.0] * 5
    assert values(told, "in flight")[-12:-4] == [0, 1, 1, 1, 1, 1, 1, 0]
    assert values(told, "demand")[-5:] == [3] * 5
    assert values(told, "max")[-6:] == [4, 5, 5, 5, 5, 5]


def test_from_a_gap_on_nothing_is_known(group: Group, now: datetime, sign_in: SignIn) -> None:
    sample(group, now - timedelta(hours=5), 2)
    GroupSample.objects.create(group=group, at=now - timedelta(minutes=40))
    sample(group, now - timedelta(minutes=20), 3)
    assert values(fetch(sign_in), "ready") == [2.0] * 19 + [None] * 20 + [3.0] * 21


def test_what_was_seen_stands_for_a_minute_after_the_last_cycle(
    group: Group, now: datetime, sign_in: SignIn, frozen_clock: FrozenClock
) -> None:
    sample(group, now - timedelta(minutes=30), 2)
    frozen_clock.advance(10 * 60)
    assert values(fetch(sign_in), "ready")[-12:] == [2, 2, 2, *[None] * 9]


def test_of_several_samples_in_a_step_the_latest_is_drawn(group: Group, now: datetime) -> None:
    at = now.timestamp() // 300 * 300
    grid = Grid.until(now.timestamp(), 1200, 300)
    for minute in range(3):
        sample(group, builders.before(now, now.timestamp() - at + 300 - 60 * minute), minute)
    assert read_group_history(group, grid).ready[-2] == 2


def test_it_says_the_same_in_a_sentence(group: Group, now: datetime, sign_in: SignIn) -> None:
    sample(group, now - timedelta(minutes=59), 0, 1)
    sample(group, now - timedelta(minutes=29), 3, 1, 4)
    assert fetch(sign_in)["charts"]["slices"]["summary"] == (
        "Ready slices in the last hour: from 0 to 3, latest 3. Latest demand 4 slices, max 4."
        " It has been full for 50 % of the time that is known."
    )


def test_without_any_sample_that_is_what_it_says(group: Group, now: datetime, sign_in: SignIn) -> None:
    told = fetch(sign_in)["charts"]["slices"]
    assert told["summary"] == "Ready slices: nothing is known in the last hour."
    assert {value for line in told["series"] for value in line["values"]} == {None}


@pytest.mark.parametrize("chosen", RANGES.all, ids=lambda chosen: chosen.code)
def test_each_range_has_its_grid_and_reads_samples_twice(
    group: Group, now: datetime, sign_in: SignIn, chosen: Any
) -> None:
    for ago in range(1, 200, 7):
        sample(group, now - timedelta(minutes=ago), ago)
    client = sign_in("viewer")
    with CaptureQueriesContext(connection) as asked:
        told = client.get(f"{PATH}?range={chosen.code}").json()
    assert sum("scaling_groupsample" in one["sql"] for one in asked) == 2
    assert (told["step"], len(told["x"])) == (chosen.step_seconds, chosen.span_seconds / chosen.step_seconds)


def test_what_people_did_is_marked(group: Group, now: datetime, sign_in: SignIn, actor: Actor) -> None:
    drain_group(actor, "v5p", "maintenance")
    builders.make_action("scale_up", now, group="v5p")
    builders.make_action("drain", now - timedelta(hours=2), group="v5p", actor_kind="user", actor="ada")
    (mark,) = fetch(sign_in)["marks"]
    assert (mark["label"], mark["by"]) == ("drain", "ada")
    assert sign_in("viewer").get(mark["address"]).status_code == 200


def test_the_page_has_its_chart_and_keeps_the_range(group: Group, now: datetime, sign_in: SignIn) -> None:
    page = sign_in("viewer").get("/groups/v5p/?range=7d").content.decode()
    assert 'data-charts="/groups/v5p/series?range=7d"' in page
    assert 'aria-current="true" title="the last 7 days"' in page


def test_an_unknown_range_and_an_unknown_group_are_told(group: Group, sign_in: SignIn) -> None:
    answer = sign_in("viewer").get(f"{PATH}?range=2h")
    assert answer.status_code == 400
    assert "expected one of 1h, 6h, 24h, 7d" in answer.json()["problem"]
    assert sign_in("viewer").get("/groups/other/series").status_code == 404
    assert sign_in("viewer").post(PATH).status_code == 405
