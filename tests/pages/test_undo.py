"""Undo: offered where there is a way back, shown before it is done, refused politely when the world has moved on."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Group
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]
BO = Actor.user("bo")


def undo(client: Client, action: Action, status: int = 302) -> str:
    answer = client.post(f"/actions/{action.pk}/undo/", {"reason": "", "version": "2"})
    assert answer.status_code == status
    return words_of(answer.content.decode())


def test_a_done_act_offers_its_undo_where_it_was_done_and_in_the_history(group: Group, sign_in: SignIn) -> None:
    client = sign_in("operator")
    done = client.post("/groups/tpu-v5-8/drain/", {"reason": "rack 4"}, follow=True).content.decode()
    path = f"/actions/{Action.objects.get().pk}/"
    assert f'tpu-v5-8 is draining. <a href="{path}undo/">Undo</a>' in done
    assert f'href="{path}undo/"' in client.get(path).content.decode()
    page = words_of(client.get(f"{path}undo/?preview=1").content.decode())
    assert "Undo: drain tpu-v5-8" in page and "operator did it at 2026-01-01 12:00:00Z." in page
    assert "It serves again and may grow." in page and "The next cycle, planned with it" in page
    assert "draining → available" in page
    answer = client.post(f"{path}undo/", {"reason": "wrong rack"}, follow=True)
    assert "Taken back: drain tpu-v5-8." in words_of(answer.content.decode())
    assert list(Action.objects.order_by("id").values_list("kind", "reason")) == [
        ("drain", "rack 4"),
        ("undrain", "wrong rack"),
    ]


@pytest.mark.parametrize("way", ["actions/{pk}/undo/", "groups/tpu-v5-8/undrain/"])
def test_an_act_and_what_took_it_back_name_each_other(group: Group, sign_in: SignIn, way: str) -> None:
    client = sign_in("operator")
    operations.drain_group(BO, group.name)
    drain = Action.objects.get()
    client.post(f"/{way.format(pk=drain.pk)}", {"reason": ""})
    undrain = Action.objects.latest("id")
    assert (undrain.kind, undrain.cause_id) == ("undrain", drain.pk)
    first, second = (client.get(f"/actions/{one.pk}/").content.decode() for one in (drain, undrain))
    assert f'by <a href="/actions/{undrain.pk}/">action {undrain.pk}</a>' in first and "/undo/" not in first
    assert f'<dt>Takes back</dt><dd><a href="/actions/{drain.pk}/">action {drain.pk}</a>' in second
    told = words_of(client.get(f"/actions/{drain.pk}/undo/").content.decode())
    assert f"It was taken back already by operator, just now (action {undrain.pk})." in told


def test_undo_is_not_offered_once_others_changed_it(group: Group, see: Get) -> None:
    operations.pause_group(BO, group.name)
    first = Action.objects.get()
    assert "Undo" in see(f"/actions/{first.pk}/", "operator")
    Group.objects.update(pause_since=None)
    assert "Undo" not in see(f"/actions/{first.pk}/", "operator")


def test_the_end_of_a_pause_is_told_in_its_row_and_on_its_page(
    group: Group, see: Get, now: datetime, frozen_clock: FrozenClock
) -> None:
    operations.pause_group(BO, group.name, "INC-77", now + timedelta(minutes=5))
    path = f"/actions/{Action.objects.get().pk}/"
    for place in ("/", "/actions/", f"/groups/{group.name}/"):
        assert "until 2026-01-01 12:05:00 UTC · INC-77" in see(place), place
    assert "Until 2026-01-01 12:05:00 UTC" in see(path)
    frozen_clock.advance(600)
    page = see(path, "operator")
    assert "End ended by itself at 2026-01-01 12:05:00 UTC" in page and "Undo" not in page
    told = see(f"{path}undo/", "operator")
    assert "It ended by itself at 2026-01-01 12:05:00Z." in told and "It may act again" not in told
    operations.drain_group(BO, group.name, "rack 4", now + timedelta(hours=1))
    for place in ("/", "/actions/"):
        assert "deadline 2026-01-01 13:00:00 UTC · rack 4" in see(place), place
    assert "Deadline 2026-01-01 13:00:00 UTC" in see(f"/actions/{Action.objects.latest('id').pk}/")
    operations.pause_group(BO, group.name)
    assert "until it is resumed · no reason given" in see("/actions/")


def test_what_was_undone_can_be_done_again_at_once(group: Group, sign_in: SignIn) -> None:
    operations.set_group_limits(BO, group.name, 1, {"max_slices": 12})
    path = f"/actions/{Action.objects.get().pk}/undo/"
    done = sign_in("admin").post(path, {"reason": ""}, follow=True).content.decode()
    assert f'<a href="/actions/{Action.objects.latest("id").pk}/undo/">Undo</a>' in done


def test_limits_are_taken_back_to_what_they_were(group: Group, sign_in: SignIn) -> None:
    operations.set_group_limits(BO, group.name, 1, {"max_slices": 12})
    client = sign_in("admin")
    page = words_of(client.get(f"/actions/{Action.objects.get().pk}/undo/").content.decode())
    assert "Max slices: 12 → 8" in page
    undo(client, Action.objects.get())
    group.refresh_from_db()
    assert group.max_slices == 8


def test_what_others_changed_since_is_told_and_nothing_is_done(group: Group, sign_in: SignIn) -> None:
    operations.set_group_limits(BO, group.name, 1, {"max_slices": 12})
    first = Action.objects.get()
    operations.set_group_limits(BO, group.name, 2, {"max_slices": 20})
    client = sign_in("admin")
    page = client.get(f"/actions/{first.pk}/undo/").content.decode()
    assert "moved on since: bo changed Max slices from 12 to 20, just now." in words_of(page)
    assert "Undo it" not in page
    undo(client, first, 422)
    assert Action.objects.count() == 2


def test_a_change_while_the_page_was_open_is_told_too(group: Group, sign_in: SignIn) -> None:
    operations.set_group_limits(BO, group.name, 1, {"max_slices": 12})
    first = Action.objects.get()
    operations.set_group_limits(BO, group.name, 2, {"min_slices": 1})
    assert "bo changed Min slices from 0 to 1, just now" in undo(sign_in("admin"), first, 409)


def test_what_has_no_way_back_says_so_and_offers_none(group: Group, sign_in: SignIn, see: Get) -> None:
    operations.drain_group(BO, group.name)
    operations.undrain_group(BO, group.name)
    last = Action.objects.latest("id")
    assert "Undrain can't be taken back." in see(f"/actions/{last.pk}/undo/", "operator")
    assert "Undo" not in see(f"/actions/{last.pk}/", "operator")
    assert undo(sign_in("operator"), last, 422)


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("operator", 403), ("admin", 200)])
def test_who_may_not_do_an_act_may_not_take_it_back(role: str, status: int, group: Group, sign_in: SignIn) -> None:
    operations.set_group_limits(BO, group.name, 1, {"max_slices": 12})
    path = f"/actions/{Action.objects.get().pk}/"
    client = sign_in(role)
    assert client.get(f"{path}undo/").status_code == status
    assert client.post(f"{path}undo/", {}).status_code == (302 if status == 200 else 403)
    assert f"{path}undo/" not in client.get(path).content.decode(), "not allowed, or done"


def test_an_action_that_is_not_there_is_not_found(group: Group, sign_in: SignIn) -> None:
    assert sign_in("operator").get("/actions/999/undo/").status_code == 404
