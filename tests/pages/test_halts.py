"""A group that stands still says why: its own pause, a pause that is over, or the halt of everything."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.pages import addresses, halts
from scaling.models import Group, Installation
from scaling.testing import builders, sample_deployments
from tests.pages.conftest import Get


@pytest.fixture
def still_groups(db: None, now: datetime) -> None:
    """Three groups that the planner found PAUSED: one by its own pause, one whose pause is over, one without any."""
    pauses = {
        "paused": {"pause_since": now, "pause_by": "bo"},
        "over": {"pause_since": builders.before(now, 60), "pause_by": "bo", "pause_until": now},
        "plain": {},
    }
    for name, pause in pauses.items():
        builders.make_status(builders.make_group(name, **pause), now, "PAUSED")


@pytest.mark.parametrize(
    ("outcome", "paused", "halted", "code"),
    [
        ("PAUSED", True, False, "PAUSED"),
        ("PAUSED", True, True, "PAUSED"),
        ("PAUSED", False, True, "HALTED"),
        ("PAUSED", False, False, "PAUSE_OVER"),
        ("DRAINING", False, True, "DRAINING"),
        ("AVAILABLE", False, True, "AVAILABLE"),
    ],
)
def test_only_what_the_planner_calls_paused_has_other_words(
    outcome: str, paused: bool, halted: bool, code: str
) -> None:
    assert halts.shown(outcome, paused, halted) == code


def test_groups_stopped_by_the_halt_alone_are_halted_not_paused(still_groups: None, now: datetime, see: Get) -> None:
    builders.make_installation(halted_since=now, halted_by="ana", halted_reason="fire drill")
    text = see("/groups/")
    assert text.count("halted") >= 2 and "plain cpu" not in text
    head = see("/groups/plain/")
    assert "halted" in head and "Halted for 0 s with every other group, ordered by ana: fire drill." in head
    assert "2 halted" in see("/") and "1 paused" in see("/")


def test_a_pause_that_ran_out_is_paused_no_more(still_groups: None, see: Get, sign_in: Callable[[str], Client]) -> None:
    builders.make_installation()
    assert "pause over" in see("/groups/over/") and "Resume" not in see("/groups/over/", "operator")
    page = sign_in("admin").get("/admin/scaling/group/").content.decode()
    assert page.count('<b class="ordered">paused</b>') == 1


@pytest.mark.parametrize(
    ("halted", "query", "names"),
    [
        (False, "PAUSED", {"paused"}),
        (False, "PAUSE_OVER", {"over", "plain"}),
        (False, "HALTED", set()),
        (True, "PAUSED", {"paused"}),
        (True, "HALTED", {"over", "plain"}),
        (True, "PAUSE_OVER", set()),
    ],
)
def test_the_list_filters_by_the_words_it_shows(
    halted: bool, query: str, names: set[str], still_groups: None, now: datetime
) -> None:
    builders.make_installation(halted_since=now if halted else None)
    assert {group.name for group in halts.with_code(Group.objects.all(), query, now)} == names


def test_a_job_that_waits_for_halted_groups_is_told_to_resume_everything(db: None, now: datetime, see: Get) -> None:
    builders.make_installation(halted_since=now)
    builders.make_status(builders.make_group("tpu-v5p-8"), now, "PAUSED")
    job = builders.make_job(now, "train", spec={"resources": {"tpu": {"variant": "v5p-8"}}, "tasks": 1})
    builders.make_hint(job, now, blocked_by=[{"group": "tpu-v5p-8", "outcome": "PAUSED", "until": None}])
    text = see("/demand/demo:train/", "operator")
    assert "Resume buying and releasing of slices. Resume buying and releasing" in text
    assert "Resume the group" not in text


def test_reasons_and_previews_say_the_halt_where_the_planner_says_paused(
    still_groups: None, now: datetime, see: Get
) -> None:
    builders.make_hint(builders.make_job(now, "train"), now, text="plain PAUSED")
    said = "PAUSED (halted: no slice is bought)"
    pages = ("/", "/demand/", "/demand/demo:train/")
    builders.make_installation()
    assert not any("no slice is bought" in see(page) for page in pages)
    for number in range(6):
        builders.make_group(f"more-{number}")
    halt = see("/settings/halt/?preview=1", "admin")
    assert "7 groups: more-1, more-2, more-3, more-4, more-5 and 2 more available → halted" in halt
    Installation.objects.update(halted_since=now)
    builders.make_action("halt", now)
    assert all(f"plain {said}" in see(page) for page in pages)
    assert "PAUSED halted: no slice is bought" in see("/groups/plain/")
    assert "halted → available" in see("/settings/unhalt/?preview=1", "admin")


def test_a_halt_says_that_deployments_go_on_and_where_they_are_paused(
    db: None, now: datetime, see: Get, sign_in: Callable[[str], Client]
) -> None:
    builders.make_installation(halted_since=now, halted_by="ana")
    sample_deployments.make_deployment("chat", now)
    goes_on = "It does not stop deployments: 1 deployment goes on being scaled. To stop that, pause"
    for role, words in (("admin", "all or some of them at once"), ("operator", "each on its page")):
        assert f"{goes_on} {words}." in see("/settings/halt/", role)
        banner = see("/deployments/", role)
        assert "by ana. Deployments go on being scaled. Control Pause deployments" in banner
    assert "Pause deployments" not in see("/deployments/")
    admin = sign_in("admin")
    assert addresses.UNPAUSED_DEPLOYMENTS in admin.get("/deployments/").content.decode()
    assert "Pause the selected deployments" in admin.get(addresses.UNPAUSED_DEPLOYMENTS).content.decode()
