"""Acts on a group: shown before they are done, refused with a sentence, never over someone else's change."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Event, Group
from scaling.testing import builders
from tests.pages.conftest import words_of

SignIn = Callable[[str], Client]
PATH = "/groups/tpu-v5-8/"


def send(client: Client, act: str, status: int = 302, **fields: object) -> str:
    answer = client.post(f"{PATH}{act}/", {"reason": "", **fields})
    assert answer.status_code == status, words_of(answer.content.decode())
    return words_of(answer.content.decode())


def test_draining_shows_every_slice_and_job_it_will_hit(group: Group, now: datetime, sign_in: SignIn) -> None:
    busy = builders.make_slice(group, now, idle=None, name="busy-1")
    builders.make_slice(group, now, idle=50, name="idle-1")
    builders.make_slice(group, now, "BOOTING", name="boot-1")
    builders.make_slice(group, now, "REQUESTING", name="unsent-1")
    builders.make_slice(group, now, "REQUESTING", name="sent-1", sent_at=now)
    builders.make_slice(group, now, "GONE", name="gone-1")
    job = builders.make_job(now, "train", tier="production")
    for _ in range(3):
        builders.make_task(job, busy.workers.get(), now)
    text = words_of(sign_in("operator").get(f"{PATH}drain/").content.decode())
    assert "It will hit 5 slices and 3 tasks of 1 job" in text
    assert "busy-1 finishes its tasks, then leaves (3 tasks)" in text
    assert "idle-1 leaves once its idle window is over" in text
    assert "unsent-1 is cancelled: it was not sent yet" in text
    assert "sent-1 was asked for already" in text
    assert "train demo · production · 3 tasks here" in text
    assert "gone-1" not in text
    assert "Type the group's name: 1 slice of it is in use" in text


def test_an_idle_group_is_drained_without_its_name_and_undone(group: Group, now: datetime, sign_in: SignIn) -> None:
    builders.make_slice(group, now, idle=50)
    client = sign_in("operator")
    answer = client.post(f"{PATH}drain/", {"reason": "rack 4", "deadline_span": "1h"}, follow=True)
    text = answer.content.decode()
    assert "tpu-v5-8 is draining." in text and f'<a href="{PATH}undrain/">Undo</a>' in text
    group.refresh_from_db()
    assert (group.drain_by, group.drain_reason, group.drain_deadline) == (
        "operator",
        "rack 4",
        builders.after(now, 3600),
    )
    send(client, "undrain")
    group.refresh_from_db()
    assert group.drain_since is None
    drain, undrain = Action.objects.order_by("id")
    assert (drain.kind, drain.actor, drain.actor_kind, drain.source) == ("drain", "operator", "user", "page")
    assert undrain.kind == "undrain"


def test_a_busy_group_is_drained_by_its_name_alone(group: Group, now: datetime, sign_in: SignIn) -> None:
    builders.make_slice(group, now, idle=None)
    client = sign_in("operator")
    for wrong in ("", "tpu-v5", "TPU-V5-8"):
        assert "Expected the name tpu-v5-8, to be sure." in send(client, "drain", 422, confirm=wrong)
    assert not Action.objects.exists()
    send(client, "drain", confirm="tpu-v5-8")
    group.refresh_from_db()
    assert group.drain_since is not None


def test_a_drain_that_would_hit_more_than_was_shown_is_shown_again(
    group: Group, now: datetime, sign_in: SignIn
) -> None:
    builders.make_slice(group, now, name="s-1")
    client = sign_in("operator")
    page = client.get(f"{PATH}drain/").content.decode()
    assert 'name="seen" value="s-1"' in page
    builders.make_slice(group, now, name="s-2")
    text = send(client, "drain", 409, seen="s-1", version=1)
    assert "It would now hit more than you were shown: s-2. Nothing was done; look again." in text
    group.refresh_from_db()
    assert group.drain_since is None
    send(client, "drain", seen="s-1 s-2", version=1)


def test_a_drain_that_hits_less_than_was_shown_goes_on(group: Group, now: datetime, sign_in: SignIn) -> None:
    builders.make_slice(group, now, name="s-2")
    send(sign_in("operator"), "drain", seen="s-1 s-2", version=1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"deadline": "2020-01-01T00:00"}, "Expected a time in the future"),
        ({"deadline": "soon"}, "Expected a time such as"),
        ({"reason": "x" * 501}, "Expected at most 500 characters"),
    ],
)
def test_a_refused_act_puts_its_sentence_at_the_field(
    fields: dict[str, str], words: str, group: Group, sign_in: SignIn
) -> None:
    client = sign_in("operator")
    text = send(client, "drain", 422, **fields)
    assert words in text
    page = client.post(f"{PATH}drain/", {"reason": "", **fields}).content.decode()
    name = next(iter(fields))
    assert f'aria-describedby="help_{name} wrong_{name}"' in page or f'aria-describedby="wrong_{name}"' in page
    assert not Action.objects.exists()


def test_what_is_done_already_is_refused_over_the_form(group: Group, sign_in: SignIn) -> None:
    client = sign_in("operator")
    assert "is not draining" in send(client, "undrain", 422)
    assert "is not paused" in send(client, "resume", 422)
    send(client, "pause")
    assert "is paused already" in send(client, "pause", 422)


def test_the_second_of_two_people_is_told_and_overwrites_nothing(group: Group, sign_in: SignIn) -> None:
    operations.pause_group(Actor.user("bo"), group.name, "flaky zone")
    text = send(sign_in("operator"), "drain", 409, version=1, reason="mine")
    assert "bo paused it just now: flaky zone. Nothing was done; this is how it is now." in text
    group.refresh_from_db()
    assert (group.drain_since, group.pause_by) == (None, "bo")
    page = sign_in("operator").post(f"{PATH}drain/", {"version": 1, "reason": "mine"}).content.decode()
    assert 'name="version" value="2"' in page and 'value="mine"' in page, "the form is current and keeps what was typed"


def test_a_pause_lasts_for_a_chosen_time_or_until_an_exact_one(group: Group, now: datetime, sign_in: SignIn) -> None:
    client = sign_in("operator")
    form = words_of(client.get("/groups/tpu-v5-8/pause/").content.decode())
    assert "Groups tpu-v5-8 Pause tpu-v5-8" in form, "where one is, from the list on"
    send(client, "pause", until_span="15min", reason="maintenance")
    group.refresh_from_db()
    assert group.pause_until == builders.after(now, 900)
    send(client, "pause", until="2026-01-01T14:00")
    group.refresh_from_db()
    assert group.pause_until == builders.after(now, 7200)
    send(client, "resume")
    group.refresh_from_db()
    assert group.pause_since is None


def test_an_act_publishes_what_changed(group: Group, sign_in: SignIn) -> None:
    send(sign_in("operator"), "pause")
    assert {"actions", "group:tpu-v5-8"} <= set(Event.objects.values_list("topic", flat=True))


def test_an_act_on_nothing_is_a_404(group: Group, sign_in: SignIn) -> None:
    client = sign_in("operator")
    for act in ("drain", "undrain", "pause", "resume"):
        assert client.post(f"/groups/nope/{act}/", {}).status_code == 404
    assert sign_in("admin").get("/groups/nope/limits/").status_code == 404


def test_a_pause_of_what_is_paused_meanwhile_offers_to_resume_it(group: Group, sign_in: SignIn) -> None:
    client = sign_in("operator")
    assert f'href="{PATH}resume/">Resume<' not in client.get(f"{PATH}pause/").content.decode()
    operations.pause_group(Actor.user("bo"), group.name, "flaky zone")
    answer = client.post(f"{PATH}pause/", {"version": 1, "reason": "mine"})
    assert answer.status_code == 409
    assert f'href="{PATH}resume/">Resume<' in answer.content.decode()
