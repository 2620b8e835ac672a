"""Demand: which jobs wait, in the order they are served, filtered by the address."""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling.models import Job
from scaling.testing import builders
from tests.pages.conftest import Get


@pytest.fixture
def jobs(db: None, now: datetime) -> dict[str, Job]:
    """Five that wait in one way or another, one that runs, one that is done."""
    made = {
        "late": builders.make_job(now, "late", priority=50, submitted_at=builders.before(now, 900)),
        "first": builders.make_job(now, "first", priority=200, tier="production",
                                   submitted_at=builders.before(now, 10)),
        "second": builders.make_job(now, "second", submitted_at=builders.before(now, 500), source="slurm"),
        "third": builders.make_job(now, "third", submitted_at=builders.before(now, 400), tasks=4, gang=True),
        "partly": builders.make_job(now, "partly", tasks=5, state="running", pending_tasks=2, running_tasks=3,
                                    submitted_at=builders.before(now, 300)),
        "runs": builders.make_job(now, "runs", state="running", pending_tasks=0, running_tasks=1),
        "over": builders.make_job(now, "over", state="done", pending_tasks=0, done_tasks=1, finished_at=now),
    }  # fmt: skip
    builders.make_hint(made["first"], now, "tier_blocked", "tpu-v5-8 STOCKOUT")
    builders.make_hint(made["second"], now, "no_matching_group", "device: no group has tpu v9-8")
    builders.make_hint(made["partly"], now, "tier_blocked", "2 of 5 tasks: tpu-v5-8 CAPACITY_EXCEEDED")
    return made


def ids(client: Client, query: str = "") -> list[str]:
    page = client.get(f"/demand/{query}").content.decode()
    return re.findall(r'<th scope="row"><a href="/demand/[a-z]+:([^/"]+)/"', page)


def test_waiting_jobs_come_in_the_order_in_which_they_are_served(
    jobs: dict[str, Job], sign_in: Callable[[str], Client]
) -> None:
    assert ids(sign_in("viewer")) == ["first", "second", "third", "partly", "late"]
    assert ids(sign_in("viewer"), "?order=oldest") == ["late", "second", "third", "partly", "first"]


def test_a_row_says_why_since_when_and_how_many(jobs: dict[str, Job], see: Get) -> None:
    text = see("/demand/")
    assert "first demo · production pending groups blocked tpu-v5-8 STOCKOUT 1 of 1 wait" in text
    assert "2 of 5 wait 3 running" in text and "third demo · standard · gang" in text
    assert "9 tasks wait; the oldest job 15 min" in text and "1 job runs in part and counts as running too" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?state=running", ["runs", "partly"]),
        ("?state=done", ["over"]),
        ("?state=cancelled", []),
        ("?code=tier_blocked", ["first", "partly"]),
        ("?code=placed", ["third", "late"]),
        ("?source=slurm", ["second"]),
        ("?tier=production", ["first"]),
        ("?q=IR", ["first", "third"]),
        ("?q=100%25", []),
    ],
)
def test_filters_are_in_the_address(
    query: str, expected: list[str], jobs: dict[str, Job], sign_in: Callable[[str], Client]
) -> None:
    assert sorted(ids(sign_in("viewer"), query)) == sorted(expected)


def test_the_tabs_count_states_and_hints(jobs: dict[str, Job], see: Get) -> None:
    text = see("/demand/")
    assert "waiting 5 running 2 done 1 cancelled 0 all 7" in text
    assert "groups blocked 2 no group fits 1 given room 2" in text
    text = see("/demand/?source=slurm")
    assert "waiting 1 running 0 done 0 cancelled 0 all 1" in text and "groups blocked 2" not in text
    assert "1 task waits in jobs like these; the oldest job 8 min" in text and "no group fits 1" in text
    kept = "tier=standard&q=r"
    assert "waiting 2 running 2 done 1 cancelled 0 all 4" in see(f"/demand/?{kept}&code=tier_blocked")
    for state, number in (("waiting", 2), ("running", 2), ("done", 1), ("all", 4)):
        assert f"{number} shown" in see(f"/demand/?{kept}&state={state}"), "a tab opens as many as it counts"


def test_long_lists_are_walked_by_key(db: None, now: datetime, sign_in: Callable[[str], Client]) -> None:
    for number in range(230):
        builders.make_job(now, f"j{number:03d}", priority=number % 3)
    client, found, query = sign_in("viewer"), [], ""
    while True:
        found += ids(client, query)
        page = client.get(f"/demand/{query}").content.decode()
        following = re.search(r'rel="next" href="([^"]+)"', page)
        if not following:
            break
        query = following[1].replace("&amp;", "&")
    assert len(found) == len(set(found)) == 230
    assert 'rel="prev"' in page


def test_nothing_that_waits_is_not_the_same_as_nothing_found(db: None, see: Get) -> None:
    assert "Nothing waits" in see("/demand/")
    assert "No job is like that" in see("/demand/?q=x")
    assert "Hint: there is no “bored”" in see("/demand/?code=bored")
