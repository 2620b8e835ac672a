"""Editing a group's limits: form, review, save; by the same rules as everywhere, and never over another's edit."""

import html
import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.pages import limits
from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Group, QuotaPool
from scaling.operations import LIMIT_FIELDS
from scaling.testing import builders
from tests.pages.conftest import words_of

PATH = "/groups/tpu-v5-8/limits/"


@pytest.fixture
def client(group: Group, sign_in: Callable[[str], Client]) -> Client:
    return sign_in("admin")


def filled(client: Client) -> dict[str, str]:
    """The form as the page shows it, as a browser would send it back."""
    page = client.get(PATH).content.decode()
    fields = dict(re.findall(r'<input[^>]* name="([a-z_]+)" value="([^"]*)"', page))
    fields |= {
        name: value.strip() for name, value in re.findall(r'<textarea[^>]* name="([a-z_]+)"[^>]*>([^<]*)<', page)
    }
    chosen = re.search(r'<select[^>]* name="quota_pool".*?</select>', page, re.S)
    pool = re.search(r"<option selected>([^<]*)<", chosen[0]) if chosen else None
    fields["quota_pool"] = pool[1] if pool else ""
    fields = {name: html.unescape(value) for name, value in fields.items()}
    fields.pop("theme", None)
    return fields


def post(client: Client, status: int, step: str, **fields: str) -> str:
    answer = client.post(PATH, {**fields, "step": step})
    assert answer.status_code == status, words_of(answer.content.decode())
    return words_of(answer.content.decode())


def test_every_limit_that_operations_know_is_in_the_form() -> None:
    shown = [name for _, names in limits.SECTIONS for name in names]
    assert sorted(shown) == sorted(LIMIT_FIELDS) == sorted(limits.LABELS)


def test_a_form_sent_back_untouched_changes_nothing(client: Client) -> None:
    Group.objects.update(attributes={"pool": "a"}, price_per_slice_hour="1.25", idle_threshold_seconds=90.5)
    assert "Nothing was changed yet." in post(client, 422, "review", **filled(client))
    assert not Action.objects.exists()


def test_a_stored_text_with_what_nobody_sees_outlasts_a_change_of_another_field(client: Client, group: Group) -> None:
    stored = {"rack": "a\u200bb"}
    Group.objects.update(attributes=stored)
    fields = filled(client) | {"priority": "7"}
    assert "\ufffd" not in "".join(fields.values())
    assert "Attributes" not in post(client, 200, "review", **fields)
    post(client, 302, "save", **fields)
    group.refresh_from_db()
    assert group.attributes == stored and group.priority == 7
    assert "a\ufffdb" in post(client, 200, "review", **(filled(client) | {"attributes": "{}"}))


def test_a_change_is_reviewed_and_then_saved(client: Client, group: Group, now: datetime) -> None:
    builders.make_slice(group, now)
    QuotaPool.objects.create(name="v5p/east", limit=64)
    fields = filled(client) | {
        "max_slices": "12", "quota_pool": "v5p/east", "idle_threshold_seconds": "600", "price_per_slice_hour": "2.5",
        "attributes": '{"rack": "a4"}', "reason": "release night",
    }  # fmt: skip
    review = post(client, 200, "review", **fields)
    assert "Max slices It holds 1 slice: up to 11 more slices. 8 12" in review
    assert "Quota pool What it holds takes 4 of the 64 devices left there. none v5p/east" in review
    assert "300 (5 min) 600 (10 min)" in review
    assert not Action.objects.exists()
    post(client, 302, "save", **fields)
    group.refresh_from_db()
    assert (group.max_slices, group.quota_pool.name, group.idle_threshold_seconds) == (12, "v5p/east", 600)  # type: ignore[union-attr]
    assert group.attributes == {"rack": "a4"} and group.version == 2
    action = Action.objects.get()
    assert (action.kind, action.actor, action.source, action.reason) == ("set_limits", "admin", "page", "release night")
    assert action.before["max_slices"] == 8 and action.after["max_slices"] == 12
    assert "min_slices" not in action.after


def test_the_review_names_the_quota_that_allows_less_than_the_limit(
    client: Client, group: Group, now: datetime
) -> None:
    pool = QuotaPool.objects.create(name="v5p/east", limit=64, learned_limit=10, learned_at=now)
    Group.objects.update(quota_pool=pool, devices_per_worker=4, workers_per_slice=1)
    builders.make_slice(group, now)
    told = "because quota pool v5p/east has 6 of 10 left as its platform told it, one slice takes 4."
    assert f"It holds 1 slice: up to 1 more for now, not 8, {told}" in post(
        client, 200, "review", **(filled(client) | {"max_slices": "9"})
    )
    QuotaPool.objects.update(learned_limit=7)
    assert "It holds 1 slice: no more for now, not 2" in post(
        client, 200, "review", **(filled(client) | {"min_slices": "3"})
    )
    QuotaPool.objects.update(learned_limit=None)
    assert "up to 8 more slices." in post(client, 200, "review", **(filled(client) | {"max_slices": "9"}))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("max_slices", "-1", "Expected a whole number of at least 0, got -1."),
        ("max_slices", "many", 'Expected a whole number of at least 0, got "many".'),
        ("max_slices", "", "Expected a whole number of at least 0, got null."),
        ("min_slices", "9", "Expected at most max_slices (8), got 9."),
        ("idle_threshold_seconds", "nan", "Expected a number"),
        ("attributes", "{broken", "Expected an object of names and values"),
        ("provision_timeout_seconds", "0", "Expected a number of at least 1"),
    ],
)
def test_a_wrong_limit_is_one_sentence_at_its_field(
    name: str, text: str, words: str, client: Client, group: Group
) -> None:
    fields = filled(client) | {name: text}
    assert words in post(client, 422, "review", **fields)
    assert words in post(client, 422, "save", **fields), "the review can't be skipped to get round it"
    page = client.post(PATH, {**fields, "step": "review"}).content.decode()
    assert f'id="wrong_{name}"' in page and 'aria-invalid="true"' in page
    group.refresh_from_db()
    assert group.version == 1 and not Action.objects.exists()


def test_a_pool_nobody_has_is_refused_when_saved(client: Client) -> None:
    text = post(client, 422, "save", **(filled(client) | {"quota_pool": "nope"}))
    assert "Expected the name of a quota pool" in text


def test_a_second_editor_is_told_and_overwrites_nothing(client: Client, group: Group) -> None:
    mine = filled(client) | {"max_slices": "12"}
    operations.set_group_limits(Actor.user("bo"), group.name, 1, {"min_slices": 3})
    for step in ("review", "save"):
        text = post(client, 409, step, **mine)
        assert "Group tpu-v5-8 has changed since you" in text
        assert "bo changed Min slices from 0 to 3, just now. Nothing was saved." in text
    group.refresh_from_db()
    assert (group.min_slices, group.max_slices, group.version) == (3, 8, 2)


def test_after_a_conflict_my_own_change_is_kept_and_the_others_stays(client: Client, group: Group) -> None:
    mine = filled(client) | {"max_slices": "12"}
    operations.set_group_limits(Actor.user("bo"), group.name, 1, {"min_slices": 3})
    page = client.post(PATH, {**mine, "step": "save"}).content.decode()
    shown = {name: html.unescape(v) for name, v in re.findall(r'<input[^>]* name="([a-z_]+)" value="([^"]*)"', page)}
    assert (shown["max_slices"], shown["min_slices"], shown["version"]) == ("12", "3", "2")
    fields = {**mine, **shown}
    assert "Min slices" not in post(client, 200, "review", **fields)
    post(client, 302, "save", **fields)
    group.refresh_from_db()
    assert (group.min_slices, group.max_slices) == (3, 12)


def test_back_from_the_review_the_form_keeps_what_was_typed(client: Client) -> None:
    answer = client.post(PATH, {**filled(client), "max_slices": "12", "step": "edit"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'name="max_slices" value="12"' in page and "now stored: <b>8</b>" in page


def test_editing_clears_what_holds_until_the_group_is_edited(client: Client, group: Group, now: datetime) -> None:
    marker = builders.make_marker(group, now, "permanent")
    post(client, 302, "save", **(filled(client) | {"max_slices": "9"}))
    marker.refresh_from_db()
    assert marker.closed_at is not None and marker.closed_by == "admin"
    edit, cleared = Action.objects.order_by("id")
    assert cleared.cause_id == edit.pk
