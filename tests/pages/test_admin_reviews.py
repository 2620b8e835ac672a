"""Edits in the admin: reviewed by the planner, several groups at once, and in force at the next cycle."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Deployment, Group, QuotaPool
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_deployment, tick
from tests.pages.conftest import words_of
from tests.pages.test_admin import at, filled, save

GROUPS = "/admin/scaling/group/"


@pytest.fixture
def client(group: Group, sign_in: Callable[[str], Client]) -> Client:
    return sign_in("admin")


@pytest.fixture
def waiting(group: Group, now: datetime) -> Group:
    """A full group, and a job of two tasks that waits for it."""
    Group.objects.update(max_slices=1)
    row = builders.make_slice(group, now, idle=None, name="busy")
    builders.make_task(builders.make_job(now, "runs", pending_tasks=0), row.workers.get(), now)
    builders.make_job(now, "train", tasks=2)
    return Group.objects.get(pk=group.pk)


def test_a_limit_is_reviewed_by_the_planner_before_it_is_saved(client: Client, waiting: Group) -> None:
    form = filled(client, at(waiting)) | {"max_slices": "3", "reason": "release"}
    review = client.post(at(waiting), form)
    text = words_of(review.content.decode())
    assert (
        "Max slices It holds 1 slice: up to 2 more slices. 1 3" in text
        and "It unblocks 1 job train" in text
        and "asks for 2 new slices" in text
    )
    assert not Action.objects.exists()
    done = client.post(at(waiting), form | {"_reviewed": "1", "_seen": review.context["seen"]}, follow=True)
    assert "changed successfully" in words_of(done.content.decode())
    action = Action.objects.get()
    assert (action.kind, action.source, action.reason) == ("set_limits", "admin", "release")


def test_what_would_do_more_than_was_shown_is_reviewed_again(client: Client, waiting: Group, now: datetime) -> None:
    form = filled(client, at(waiting)) | {"max_slices": "9"}
    seen = client.post(at(waiting), form).context["seen"]
    builders.make_job(now, "more", tasks=3)
    again = client.post(at(waiting), form | {"_reviewed": "1", "_seen": seen})
    assert again.status_code == 409 and not Action.objects.exists()
    assert "It would now do more than you were shown: 5 new slices in tpu-v5-8." in words_of(again.content.decode())


def test_back_from_the_review_the_form_keeps_what_was_typed(client: Client, group: Group) -> None:
    answer = client.post(at(group), filled(client, at(group)) | {"max_slices": "12", "_back": "1"})
    text = words_of(answer.content.decode())
    assert "Nothing was saved" in text and "Stored now: 8." in text and "Please correct" not in text
    assert answer.context["adminform"].form["max_slices"].value() == "12"


def test_a_pool_is_reviewed_too(client: Client, group: Group, now: datetime) -> None:
    pool = QuotaPool.objects.create(name="p", limit=2, learned_limit=1, learned_at=now)
    Group.objects.update(quota_pool=pool)
    builders.make_job(now, "train")
    answer = client.post(at(pool), filled(client, at(pool)) | {"limit": "64"})
    text = words_of(answer.content.decode())
    assert "It unblocks 1 job train" in text and "Its groups hold 0 devices: up to 64 more." in text
    assert "2 64 Learned limit 1 none" in text
    QuotaPool.objects.update(learned_limit=None, limit=64)
    Group.objects.update(devices_per_worker=4, workers_per_slice=2)
    for number in range(3):
        builders.make_slice(group, now, idle=None, name=f"busy-{number}")
    builders.make_slice(group, now, "GONE", name="gone")
    assert "Held: 24 Left: 40 Limit, devices:" in words_of(client.get(at(pool)).content.decode())
    assert "p 64 24 40" in words_of(client.get("/admin/scaling/quotapool/").content.decode())
    text = words_of(client.post(at(pool), filled(client, at(pool)) | {"limit": "8"}).content.decode())
    assert "Its groups hold 24 devices: nothing new is bought. No busy slice is released for it. 64 8" in text
    assert client.get(f"{at(pool)[:-7]}history/")["Location"] == "/actions/?target=quota+pool+p"


@pytest.fixture
def chat(group: Group, now: datetime) -> Deployment:
    row = make_deployment("chat", now)
    tick(row, now, Scene(healthy=4, p95=450, rps=38, window=((310, 4),)))
    return row


def test_a_deployments_settings_are_reviewed_and_saved(client: Client, chat: Deployment) -> None:
    form = filled(client, at(chat)) | {"max_replicas": "2", "target_rps": ""}
    text = words_of(client.post(at(chat), form).content.decode())
    assert "Max replicas none 2" in text and "It stops 1 replica" in text and "healthy-1" in text
    save(client, at(chat), max_replicas=2, reason="budget")
    chat.refresh_from_db()
    action = Action.objects.get()
    assert chat.overrides == {"max_replicas": 2}
    assert (action.kind, action.source, action.target) == ("set_targets", "admin", "deployment chat")
    save(client, at(chat), max_replicas="")
    chat.refresh_from_db()
    assert chat.overrides == {}, "emptied, the Gateway's value is back in its place"
    assert client.get(f"{at(chat)[:-7]}history/")["Location"] == "/actions/?target=deployment+chat"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"min_replicas": 12}, "expected at most max_replicas (10), got 12"),
        ({"tolerance": "many"}, "expected a number"),
        ({"target_rps": -1}, "expected a number of at least 0"),
    ],
)
def test_a_wrong_setting_is_refused_in_the_words_of_the_pages(
    changes: dict[str, object], words: str, client: Client, chat: Deployment
) -> None:
    assert words in save(client, at(chat), 200, **changes)
    page = client.post("/deployments/chat/edit/", {**{k: str(v) for k, v in changes.items()}, "step": "review"})
    assert words in words_of(page.content.decode()).replace("Expected", "expected")
    assert not Action.objects.exists()


def test_deployments_are_paused_with_an_end_and_resumed_together(
    client: Client, chat: Deployment, now: datetime
) -> None:
    path, chosen = "/admin/scaling/deployment/", {"_selected_action": [chat.pk]}
    asked = client.post(path, chosen | {"action": "pause"})
    assert "Pause these deployments?" in words_of(asked.content.decode()) and not Action.objects.exists()
    wrong = client.post(path, chosen | {"action": "pause", "confirm": "1", "until": "2020-01-01T00:00"})
    assert wrong.status_code == 422 and "Until: expected a time in the future" in words_of(wrong.content.decode())
    until = (now + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M")
    sent = {"action": "pause", "confirm": "1", "direction": "up", "until": until, "reason": "load test"}
    client.post(path, chosen | sent)
    chat.refresh_from_db()
    assert (chat.pause_direction, chat.pause_until) == ("up", now + timedelta(hours=2))
    for end, words in ((chat.pause_until, "none adding"), (now, "0 deployments")):
        Deployment.objects.update(pause_until=end)
        assert words in words_of(client.get(f"{path}?paused=yes").content.decode())
    Deployment.objects.update(pause_until=chat.pause_until)
    client.post(path, chosen | {"action": "resume", "confirm": "1"})
    chat.refresh_from_db()
    assert chat.pause_direction == ""
    assert list(Action.objects.order_by("id").values_list("kind", "source")) == [
        ("pause", "admin"),
        ("resume", "admin"),
    ]


# -- several groups at once


@pytest.fixture
def both(waiting: Group) -> list[int]:
    return [waiting.pk, builders.make_group("tpu-other", priority=50, max_slices=0).pk]


def bulk(client: Client, both: list[int], step: str = "", **fields: object) -> tuple[int, str]:
    answer = client.post(
        GROUPS, {"action": "edit_limits", "_selected_action": both, "step": step, **fields}, follow=True
    )
    return answer.status_code, words_of(answer.content.decode())


def test_limits_of_several_groups_are_planned_together_and_saved_together(client: Client, both: list[int]) -> None:
    status, text = bulk(client, both)
    assert status == 200 and "Limits of 2 groups" in text and "Now: 100, 50." in text
    change = {"max_slices": "3", "priority": "7", "price_per_slice_hour": "2.5"}
    _, text = bulk(client, both, "review", **change)
    assert (
        "tpu-other Max slices It holds 0 slices: up to 3 more slices. 0 3" in text
        and "tpu-v5-8 Priority 100 7" in text
        and "It unblocks 1 job train" in text
    )
    assert not Action.objects.exists()
    _, text = bulk(client, both, "save", seen="tpu-other=+2 tpu-v5-8=+2", reason="new quarter", **change)
    assert "The limits of tpu-other, tpu-v5-8 are changed" in text
    assert set(Group.objects.values_list("max_slices", "priority")) == {(3, 7)}
    assert Action.objects.filter(kind="set_limits", source="admin", reason="new quarter").count() == 2


def test_one_group_that_refuses_keeps_all_as_they_are(client: Client, both: list[int]) -> None:
    Group.objects.filter(name="tpu-v5-8").update(min_slices=1)
    status, text = bulk(client, both, "review", max_slices="0")
    assert status == 422 and "Tpu-v5-8: expected at least min_slices (1), got 0" in text
    stale = {f"version_{both[0]}": "1", f"version_{both[1]}": "1", "priority": "7"}
    operations.set_group_limits(Actor.user("bo"), "tpu-v5-8", 1, {"buffer_slices": 1})
    _, text = bulk(client, both, "save", **stale)
    assert (
        "No group was changed: group tpu-v5-8 has changed since you looked at it: bo changed Buffer slices from 0 to 1"
        in text
    )
    assert set(Group.objects.values_list("priority", flat=True)) == {100, 50}


def test_a_field_is_emptied_by_the_word_none(client: Client, both: list[int]) -> None:
    pool = QuotaPool.objects.create(name="p", limit=64)
    Group.objects.update(quota_pool=pool, allocation_tier=3)
    bulk(client, both, "save", quota_pool="none", allocation_tier="none")
    assert set(Group.objects.values_list("quota_pool", "allocation_tier")) == {(None, None)}


def test_nothing_written_changes_nothing(client: Client, both: list[int]) -> None:
    status, text = bulk(client, both, "review")
    assert status == 422 and "Nothing to change" in text


def test_orders_show_what_the_next_cycle_does_and_are_checked_when_sent(
    client: Client, waiting: Group, now: datetime
) -> None:
    chosen = {"action": "drain", "_selected_action": [waiting.pk]}
    asked = client.post(GROUPS, chosen)
    text = words_of(asked.content.decode())
    assert "The next cycle, planned with it" in text and "Type tpu-v5-8 to be sure" in text
    builders.make_slice(waiting, now, name="newer")
    sure = chosen | {"confirm": "1", "name": "tpu-v5-8", "seen": asked.context["seen"], "reason": ""}
    again = client.post(GROUPS, sure)
    assert again.status_code == 409 and "than you were shown: newer." in words_of(again.content.decode())
    end = (now + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    client.post(GROUPS, sure | {"seen": again.context["seen"], "end": end, f"version_{waiting.pk}": "1"})
    waiting.refresh_from_db()
    assert waiting.drain_deadline == now + timedelta(hours=1)


@pytest.mark.parametrize(("order", "names"), [("draining", ["tpu-other"]), ("paused", []), ("none", ["tpu-v5-8"])])
def test_groups_are_found_by_the_order_in_force(order: str, names: list[str], client: Client, both: list[int]) -> None:
    operations.drain_group(Actor.user("bo"), "tpu-other")
    found = client.get(f"{GROUPS}?ordered={order}").context["cl"].result_list
    assert [group.name for group in found] == names


@pytest.mark.parametrize("model", ["deployment", "quotapool", "group"])
def test_rows_are_neither_made_nor_deleted_here(model: str, client: Client, chat: Deployment) -> None:
    QuotaPool.objects.create(name="p")
    assert client.get(f"/admin/scaling/{model}/add/").status_code == 403
    assert client.post(f"/admin/scaling/{model}/1/delete/", {"post": "yes"}).status_code == 403
    assert "delete_selected" not in client.get(f"/admin/scaling/{model}/").content.decode()


def test_the_history_has_no_place_where_it_could_be_changed(client: Client) -> None:
    for model in ("action", "cycle", "marker", "slice", "job", "event"):
        assert client.get(f"/admin/scaling/{model}/").status_code == 404
    assert client.get("/admin/admin/logentry/").status_code == 404
