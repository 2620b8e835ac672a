"""A planner that fails: the admin says so and loses nothing that was typed, and a stop is not held up by it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from scaling.models import Action, Group, QuotaPool
from tests.pages.conftest import words_of
from tests.pages.test_admin import at, filled

GROUPS = "/admin/scaling/group/"
NO_ANSWER = "The planner gave no answer, so that nobody can say what would be bought or released."


def fail() -> None:
    raise ZeroDivisionError


@pytest.fixture
def client(group: Group, sign_in: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr("scaling.previews.cluster.base", fail)
    return sign_in("admin")


SENT = pytest.mark.parametrize("reviewed", [{}, {"_reviewed": "1", "_seen": ""}], ids=["asked", "sent"])


def ordered(client: Client, group: Group, action: str, **written: str) -> Any:
    chosen = {"action": action, "index": "0", "_selected_action": [str(group.pk)], "chosen": f"{group.pk}:1"}
    return client.post(GROUPS, {**chosen, **written})


@SENT
def test_an_edit_of_limits_comes_back_as_it_was_typed(client: Client, group: Group, reviewed: dict[str, str]) -> None:
    answer = client.post(at(group), filled(client, at(group)) | {"max_slices": "12"} | reviewed)
    said = words_of(answer.content.decode())
    assert answer.status_code == 503
    assert f"{NO_ANSWER} Nothing was saved: your changes are kept below." in said
    assert "Please correct" not in said and "Stored now" not in said and "Error:" not in said
    assert answer.context["adminform"].form["max_slices"].value() == "12"
    assert Group.objects.get().max_slices == group.max_slices


@SENT
def test_an_edit_of_a_pool_comes_back_as_it_was_typed(client: Client, reviewed: dict[str, str]) -> None:
    pool = QuotaPool.objects.create(name="p", limit=2)
    answer = client.post(at(pool), filled(client, at(pool)) | {"limit": "64"} | reviewed)
    assert NO_ANSWER in words_of(answer.content.decode())
    assert QuotaPool.objects.get().limit == 2


@pytest.mark.parametrize("step", ["review", "save"])
def test_an_edit_of_several_groups_comes_back_as_it_was_typed(client: Client, group: Group, step: str) -> None:
    answer = ordered(client, group, "edit_limits", step=step, max_slices="12", seen="")
    assert answer.status_code == 503
    assert f"{NO_ANSWER} Nothing was done." in words_of(answer.content.decode())
    assert 'value="12"' in answer.content.decode() and Group.objects.get().max_slices == group.max_slices


@pytest.mark.parametrize("action", ["pause", "drain"])
def test_a_stop_is_not_held_up(client: Client, group: Group, action: str) -> None:
    shown = ordered(client, group, action)
    assert f"{NO_ANSWER} It can be done all the same." in words_of(shown.content.decode())
    assert ordered(client, group, action, confirm="1", seen=shown.context["seen"]).status_code == 302
    assert Action.objects.get().kind == action


@pytest.mark.parametrize("action", ["resume", "undrain"])
def test_what_lets_groups_serve_again_waits_for_the_planner(client: Client, group: Group, action: str) -> None:
    assert ordered(client, group, action, confirm="1", seen="").status_code == 503
    assert not Action.objects.exists()
