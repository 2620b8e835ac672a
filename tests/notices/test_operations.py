"""Acts on channels and notices: one Action each, and no secret anywhere."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, ActorKind, Notice, NoticeChannel, NoticeDelivery, Source
from scaling.operations import InvalidRequest, OperationRefused, StaleVersion
from scaling.operations import notices as acts
from scaling.testing import builders
from tests.notices.receivers import web_receiver
from tests.pages.conftest import words_of

pytestmark = pytest.mark.django_db
SECRET = "hunter22secret"
URL = f"https://bob:{SECRET}@hooks.example/{SECRET}"


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library knows every address but nonsense, without a process for each question."""
    monkeypatch.setattr(acts, "service_of", lambda url: "" if url.startswith("nonsense") else "JSON")


@pytest.fixture(autouse=True)
def no_secret_in_the_history(db: None) -> Iterator[None]:
    yield
    told = [[row.target, row.reason, row.before, row.after] for row in Action.objects.all()]
    assert SECRET not in json.dumps(told)


def test_a_channel_is_made_with_one_action_that_masks_its_address(actor: Actor) -> None:
    channel = operations.create_channel(actor, "on-call", URL, ["stockout"], reason="rota")
    assert channel.masked == "https://hooks.example/…"
    action = Action.objects.get()
    assert (action.kind, action.target, action.reason) == ("create_channel", "notice channel on-call", "rota")
    assert action.after == {
        "name": "on-call", "url": "https://hooks.example/…", "kinds": ["stockout"], "enabled": True, "tell_over": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": f"no address {SECRET}"}, "url"),
        ({"url": f"json://a b{SECRET}"}, "url"),
        ({"url": "json://h/" + SECRET * 200}, "url"),
        ({"url": f"nonsense://{SECRET}"}, "url"),
        ({"kinds": ["weather"]}, "kinds"),
        ({"name": ""}, "name"),
    ],
)
def test_what_is_wrong_is_named_without_the_secret(actor: Actor, given: dict[str, Any], field: str) -> None:
    with pytest.raises(OperationRefused) as refused:
        operations.create_channel(actor, **{"name": "x", "url": URL, **given})
    assert refused.value.field == field and SECRET not in str(refused.value)
    assert not NoticeChannel.objects.exists()


def test_a_name_is_given_once(actor: Actor) -> None:
    operations.create_channel(actor, "x", URL)
    with pytest.raises(OperationRefused, match="already"):
        operations.create_channel(actor, "x", URL)


def test_a_new_address_is_told_as_changed_and_nothing_more(actor: Actor) -> None:
    channel = operations.create_channel(actor, "x", URL)
    operations.set_channel(actor, channel.pk, 1, {"url": f"https://hooks.example/other{SECRET}"})
    action = Action.objects.latest("id")
    assert (action.kind, action.before, action.after) == (
        "set_channel", {"url": "https://hooks.example/…"}, {"url": "https://hooks.example/… (changed)"},
    )  # fmt: skip


def test_an_edit_of_what_moved_meanwhile_is_refused(actor: Actor) -> None:
    channel = operations.create_channel(actor, "x", URL)
    operations.set_channel(actor, channel.pk, 1, {"tell_over": False})
    with pytest.raises(StaleVersion, match="has changed since you looked at it"):
        operations.set_channel(actor, channel.pk, 1, {"enabled": False})
    with pytest.raises(OperationRefused, match="nothing to change"):
        operations.set_channel(actor, channel.pk, 2, {"tell_over": False})
    with pytest.raises(InvalidRequest, match="expected some of"):
        operations.set_channel(actor, channel.pk, 2, {"colour": "red"})


def test_switched_off_what_waits_is_given_up(actor: Actor, channel: NoticeChannel, now: Any) -> None:
    NoticeDelivery.objects.create(
        channel=channel, message="m", kind="new", title="t", body="b", next_attempt_at=now, created_at=now
    )
    operations.set_channel(actor, channel.pk, None, {"enabled": False})
    assert NoticeDelivery.objects.get().last_error == "the channel was switched off"


def test_a_channel_of_the_environment_keeps_its_name_and_address(actor: Actor) -> None:
    row = NoticeChannel.objects.create(name="env", digest="d", from_environment=True)
    for change in ({"name": "y"}, {"url": URL}):
        with pytest.raises(OperationRefused, match="of the environment"):
            operations.set_channel(actor, row.pk, None, change)
    with pytest.raises(OperationRefused, match="take it out of IRIS_NOTICE_URLS"):
        operations.remove_channel(actor, row.pk)
    operations.set_channel(actor, row.pk, None, {"kinds": ["stockout"]})
    with pytest.raises(OperationRefused, match="another process"):
        operations.send_test(actor, row.pk)


def test_a_removed_channel_is_gone_with_what_waits_for_it(actor: Actor, channel: NoticeChannel) -> None:
    operations.remove_channel(actor, channel.pk, "left the team")
    assert not NoticeChannel.objects.exists()
    assert Action.objects.get().kind == "remove_channel"


def test_a_test_is_sent_marked_recorded_and_not_twice_in_a_row(
    actor: Actor, channel: NoticeChannel, frozen_clock: FrozenClock
) -> None:
    with web_receiver() as web:
        NoticeChannel.objects.update(url=f"json://{web.host}/{SECRET}")
        assert operations.send_test(actor, channel.pk).ok
        with pytest.raises(OperationRefused, match="tested a moment ago"):
            operations.send_test(actor, channel.pk)
    [(path, body)] = web.got
    assert path == f"/{SECRET}" and body["title"] == "Test: this is only a test" and body["type"] == "info"
    action = Action.objects.get()
    assert (action.kind, action.after) == ("test_channel", {"notice": body["id"]})


def test_an_acknowledged_notice_names_who_and_why(actor: Actor, now: Any) -> None:
    notice = Notice.objects.create(kind="loop_stalled", object="x", title="Loop stalled: x", since=now, opened_at=now)
    operations.acknowledge_notice(actor, notice.pk, "on it", version=1)
    notice.refresh_from_db()
    assert (notice.acknowledged_by, notice.acknowledged_note, notice.version) == (actor.name, "on it", 2)
    action = Action.objects.get()
    assert (action.kind, action.reason) == ("acknowledge", "on it")
    assert action.target == f"notice {notice.pk}: Loop stalled: x"
    Notice.objects.update(over_at=now)
    with pytest.raises(OperationRefused, match="it is over since"):
        operations.acknowledge_notice(actor, notice.pk, "again")


def test_an_acknowledgement_of_another_is_not_taken_over_unseen(
    actor: Actor, now: Any, sign_in: Callable[[str], Client]
) -> None:
    builders.make_installation()
    notice = Notice.objects.create(kind="loop_stalled", object="x", title="Loop stalled: x", since=now, opened_at=now)
    operations.acknowledge_notice(Actor.user("ben"), notice.pk, "looking", version=1)
    sentence = r'^the notice "Loop stalled: x" is acknowledged already, by ben at 2026-01-01 .*: looking$'
    for other in (actor, Actor(ActorKind.TOKEN, "ben", Source.API)):
        with pytest.raises(StaleVersion, match=sentence):
            operations.acknowledge_notice(other, notice.pk, "me too")
    client, path = sign_in("operator"), f"/settings/notices/{notice.pk}/acknowledge/"
    answer = client.post(path, {"note": "me too", "version": "1"})
    words = words_of(answer.content.decode())
    assert answer.status_code == 409 and "ben acknowledged it just now: looking" in words
    assert "It is acknowledged by ben at 2026-01-01 " in words and "Take it over" in words
    assert Action.objects.count() == 1, "nothing is written until the second one says so"
    assert client.post(path, {"note": "me too", "version": "2"}).status_code == 302
    notice.refresh_from_db()
    assert (notice.acknowledged_by, notice.acknowledged_note) == ("operator", "me too")
