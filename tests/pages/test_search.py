"""The search finds by name whatever has one, asks a bounded number of questions, and works as a page and as a part."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from iris_web.pages import search
from scaling.models import Group, QuotaPool
from scaling.testing import builders
from scaling.testing.sample_deployments import make_deployment
from tests.pages.conftest import Get


def names(text: str) -> dict[str, list[str]]:
    """What is found, by section."""
    return {section.title: [hit.name for hit in section.hits] for section in search.find(text).sections}


@pytest.fixture
def things(group: Group, now: datetime) -> Group:
    """Some of everything that has a name."""
    builders.make_group("my-tpu-v5-8")
    builders.make_job(now, "train-llama")
    builders.make_job(now, "eval-train")
    make_deployment("chat-1", now, name="Chat, large")
    builders.make_slice(group, now, name="tpu-v5-8-ab")
    builders.make_slice(group, now, name="tpu-v5-8-2139c733")
    builders.make_slice(group, now, "GONE", name="tpu-v5-8-77aac733", ended_at=now)
    QuotaPool.objects.create(name="v5p/us-east5-a")
    return group


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tpu-v5-8", {"Groups": ["tpu-v5-8", "my-tpu-v5-8"]}),
        ("TPU-V5", {"Groups": ["tpu-v5-8", "my-tpu-v5-8"]}),
        ("train", {"Jobs": ["eval-train", "train-llama"]}),
        ("train-llama", {"Jobs": ["train-llama"]}),
        ("LLAMA train", {"Jobs": ["train-llama"]}),
        ("v5-8 my", {"Groups": ["my-tpu-v5-8"]}),
        ("v5-8 your", {}),
        ("demo:train", {"Jobs": ["eval-train", "train-llama"]}),
        ("other:train", {}),
        ("large", {"Deployments": ["Chat, large"]}),
        ("chat-1", {"Deployments": ["Chat, large"]}),
        ("tpu-v5-8-ab", {"Slices": ["tpu-v5-8-ab"]}),
        ("2139c733", {"Slices": ["tpu-v5-8-2139c733"]}),
        ("…-2139c733", {"Slices": ["tpu-v5-8-2139c733"]}),
        ("77aac733", {}),
        ("v5p/us-east5-a", {"Quota pools": ["v5p/us-east5-a"]}),
        ("V5P/us", {"Quota pools": ["v5p/us-east5-a"]}),
        ("stock", {"Pages": ["Stock-outs"]}),
        ("t", {}),
        ("%", {}),
        ("  ", {}),
        ("'; drop table", {}),
    ],
)
def test_names_are_found_the_nearest_first(text: str, found: dict[str, list[str]], things: Group) -> None:
    assert names(text) == found


def test_actions_are_found_by_number_and_by_exactly_whom_they_name(things: Group, now: datetime) -> None:
    first = builders.make_action("drain", now, group=things.name, actor_kind="user", actor="ana")
    last = builders.make_action("undrain", now, group=things.name, actor_kind="user", actor="bo")
    assert names(f"#{first.pk}")["Actions"] == [f"#{first.pk} drain"]
    assert names(str(last.pk))["Actions"] == [f"#{last.pk} undrain"]
    assert names("ana") == {"Actions": [f"#{first.pk} drain"]}
    assert names(things.name)["Actions"] == [f"#{last.pk} undrain", f"#{first.pk} drain"]
    assert names("9" * 40) == {}


def test_a_list_that_goes_on_is_a_link_away(group: Group, now: datetime, see: Get) -> None:
    for number in range(search.SHOWN + 1):
        builders.make_job(now, f"sweep-{number}")
    (section,) = search.find("sweep").sections
    assert len(section.hits) == search.SHOWN and section.more == "/demand/?q=sweep&state=all"
    assert "8 or more hits" in see("/search/?q=sweep") and "Jobs the first 8" in see("/search/?q=sweep")
    assert "1 hit " in see("/search/?q=sweep-1")
    assert "sweep-8" in see(section.more)


def test_jobs_that_wait_come_first_then_those_that_run_and_of_each_the_newest(
    db: None, now: datetime, see: Get
) -> None:
    stands = {"done": {"state": "done", "pending_tasks": 0}, "runs": {"state": "running", "pending_tasks": 0}}
    stands |= {"part": {"state": "running", "pending_tasks": 1}, "waits": {}}
    for age, (name, fields) in enumerate(stands.items(), start=1):
        for older in (0, 20):
            builders.make_job(now, f"sweep-{name}-{older}", submitted_at=builders.before(now, age + older), **fields)
    first = ["sweep-part-0", "sweep-waits-0", "sweep-part-20", "sweep-waits-20"]
    assert names("sweep")["Jobs"] == [*first, "sweep-runs-0", "sweep-runs-20", "sweep-done-0", "sweep-done-20"]
    assert names("Sweep-Done-20")["Jobs"] == ["sweep-done-20"]
    (section,) = search.find("demo:20 sweep").sections
    assert len(section.hits) == 4 and "sweep-done-20" in see("/demand/?q=20+sweep&source=demo&state=all")


def test_the_page_says_what_to_type_and_what_was_not_found(things: Group, see: Get) -> None:
    assert "Type 2 letters of a name or more" in see("/search/")
    text = see("/search/?q=nowhere")
    assert "Nothing is called “nowhere”" in text and "Look for it in all actions" in text
    assert "2 hits" in see("/search/?q=train")
    text = see("/search/?q=zzz%20%E2%80%AE%25") + see("/groups/%E2%80%AEnope/", status=404)
    assert "Nothing is called “zzz %”" in text and "There is no group \ufffdnope." in text and "\u202e" not in text


def test_the_part_is_the_results_alone_and_escapes_what_was_typed(
    things: Group, sign_in: Callable[[str], Client]
) -> None:
    client = sign_in("viewer")
    part = client.get("/search/?part=1&q=train").content.decode()
    assert "train-llama" in part and "<html" not in part and "<nav" not in part
    assert "<script>" not in client.get("/search/?part=1&q=<script>").content.decode()


def test_nobody_searches_who_may_not_look(db: None, client: Client) -> None:
    assert client.get("/search/?q=train").status_code == 302


def test_it_asks_as_often_whatever_there_is(things: Group, now: datetime) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            search.find("tpu-v5-8")
        return len(queries)

    few = asked()
    for number in range(12):
        builders.make_status(builders.make_group(f"tpu-v5-8-{number}"), now)
        builders.make_job(now, f"tpu-v5-8-{number}")
        builders.make_action("drain", now, group="tpu-v5-8")
    assert asked() == few <= 13
