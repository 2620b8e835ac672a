"""Acts on a deployment: shown before they are done, refused with a sentence, never over someone else's change."""

import math
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Deployment, Scaler
from scaling.replicas.memory import ZeroBy
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_deployment, tick
from tests.pages.conftest import words_of

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]
PATH = "/deployments/chat/"


@pytest.fixture
def chat(now: datetime) -> Deployment:
    row = make_deployment("chat", now)
    tick(row, now, Scene(healthy=4, warming=1, failed=1))
    return row


def get(client: Client, act: str) -> str:
    answer = client.get(f"{PATH}{act}")
    assert answer.status_code == 200
    return words_of(answer.content.decode())


def send(client: Client, act: str, status: int = 302, **fields: object) -> str:
    answer = client.post(f"{PATH}{act}", {"reason": "", **fields})
    assert answer.status_code == status, words_of(answer.content.decode())
    return words_of(answer.content.decode())


def undo_link() -> str:
    """The link that takes the latest act back."""
    return f'<a href="/actions/{Action.objects.latest("id").pk}/undo/">Undo</a>'


# -- pause and resume


def test_a_pause_says_what_each_direction_stops(chat: Deployment, sign_in: SignIn) -> None:
    text = get(sign_in("operator"), "pause/")
    assert "Everything It is left exactly as it is: nothing is added, nothing removed" in text
    assert "Adding Nothing is added, not even up to its minimum." in text
    assert "Removing No healthy replica is removed, not even down to its maximum." in text
    assert "It has 4 healthy and 1 coming replicas now, of 1 to 10." in text


@pytest.mark.parametrize("direction", ["both", "up", "down"])
def test_it_is_paused_with_an_expiry_and_undone(
    chat: Deployment, now: datetime, sign_in: SignIn, direction: str
) -> None:
    client = sign_in("operator")
    fields = {"direction": direction, "until_span": "1h", "reason": "load test"}
    text = client.post(f"{PATH}pause/", fields, follow=True).content.decode()
    assert "chat is paused." in text and undo_link() in text
    chat.refresh_from_db()
    assert (chat.pause_direction, chat.pause_by, chat.pause_reason) == (direction, "operator", "load test")
    assert chat.pause_until == builders.after(now, 3600)
    send(client, "resume/", reason="done")
    chat.refresh_from_db()
    assert chat.pause_direction == ""
    pause, resume = Action.objects.filter(target="deployment chat").order_by("id")
    assert (pause.kind, pause.actor, pause.source, resume.kind) == ("pause", "operator", "page", "resume")


def test_a_pause_in_force_is_changed_from_where_it_stands(chat: Deployment, sign_in: SignIn) -> None:
    operations.pause_deployment(Actor.user("ana"), "chat", "down")
    page = sign_in("operator").get(f"{PATH}pause/").content.decode()
    assert 'value="down" checked' in page


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"direction": "sideways"}, "one of both, up, down"),
        ({"until": "2020-01-01T00:00"}, "Expected a time in the future"),
        ({"until": "tomorrow"}, "Expected a time such as"),
    ],
)
def test_a_pause_that_cannot_be_meant_is_refused(
    chat: Deployment, sign_in: SignIn, fields: dict[str, str], sentence: str
) -> None:
    assert sentence in send(sign_in("operator"), "pause/", 422, **fields)
    assert not Action.objects.exists()


def test_resuming_what_is_not_paused_is_refused(chat: Deployment, sign_in: SignIn) -> None:
    assert "Deployment chat is not paused." in send(sign_in("operator"), "resume/", 422)


def test_the_second_of_two_is_told_and_nothing_is_overwritten(chat: Deployment, sign_in: SignIn) -> None:
    operations.pause_deployment(Actor.user("ana"), "chat", "up", reason="mine")
    text = send(sign_in("operator"), "pause/", 409, direction="both", version=1)
    assert "ana paused it (up) just now: mine." in text and "Nothing was done; this is how it is now." in text
    chat.refresh_from_db()
    assert (chat.pause_direction, chat.pause_by) == ("up", "ana")


# -- scale now


def test_scale_now_asks_for_a_number_first(chat: Deployment, sign_in: SignIn) -> None:
    text = get(sign_in("operator"), "scale/")
    assert "You see exactly what it adds and stops before anything is done." in text
    assert "From 1 to 10, its minimum and maximum; or 0 to hold it at zero." in text


def test_more_says_how_many_are_added(chat: Deployment, sign_in: SignIn) -> None:
    text = get(sign_in("operator"), "scale/?replicas=8")
    assert "Scale chat to 8" in text
    assert "It will add 3 replicas and stop 1 replica failed failed-1" in text


def test_fewer_shows_exactly_which_replicas_go_the_oldest_first(chat: Deployment, sign_in: SignIn) -> None:
    text = get(sign_in("operator"), "scale/?replicas=2")
    assert "It will stop 3 replicas failed failed-1 healthy healthy-1 healthy healthy-2 Reason" in text


def test_it_is_ordered_and_written_down(chat: Deployment, sign_in: SignIn) -> None:
    client = sign_in("operator")
    send(client, "scale/?replicas=8", replicas=8, reason="launch", seen="failed-1", version=1)
    chat.refresh_from_db()
    assert (chat.wanted_replicas, chat.wanted_by) == (8, "operator")
    action = Action.objects.get()
    assert (action.kind, action.reason, chat.wanted_action_id) == ("scale", "launch", action.pk)


def test_an_order_that_would_stop_others_than_were_shown_is_shown_again(
    chat: Deployment, now: datetime, sign_in: SignIn
) -> None:
    text = send(sign_in("operator"), "scale/?replicas=2", 409, replicas=2, seen="failed-1 healthy-1", version=1)
    assert "It would now hit more than you were shown: healthy-2. Nothing was done; look again." in text
    assert not Action.objects.exists()


def test_zero_stops_all_that_serve_and_needs_the_id(chat: Deployment, sign_in: SignIn) -> None:
    client = sign_in("operator")
    text = get(client, "scale/?replicas=0")
    assert "Hold chat at zero" in text and "It stays at zero until it is woken." in text
    assert "It will stop 5 replicas" in text and "Type chat: it will serve nobody" in text
    seen = "failed-1 healthy-1 healthy-2 healthy-3 healthy-4"
    assert "Expected the name chat, to be sure." in send(client, "scale/?replicas=0", 422, replicas=0, seen=seen)
    text = client.post(f"{PATH}scale/?replicas=0", {"seen": seen, "confirm": "chat"}, follow=True).content.decode()
    assert undo_link() in text
    chat.refresh_from_db()
    assert (chat.wanted_replicas, Scaler.objects.get().zero_by) == (0, "operator")


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "11", "9" * 23, "٣"])
def test_a_number_that_cannot_be_meant_is_refused_with_its_range(chat: Deployment, sign_in: SignIn, text: str) -> None:
    client = sign_in("operator")
    for answer in (client.get(f"{PATH}scale/?replicas={text}"), client.post(f"{PATH}scale/", {"replicas": text})):
        assert answer.status_code == 422
        told = words_of(answer.content.decode())
        assert "Expected a whole number from 1 to 10, or 0 to hold it at zero." in told
    assert not Action.objects.exists()


def test_what_is_unknown_cannot_be_shown_and_that_is_said(now: datetime, sign_in: SignIn) -> None:
    make_deployment("chat", now)
    assert "Which replicas it has is not known now" in get(sign_in("operator"), "scale/?replicas=3")


def test_a_number_that_is_there_already_does_nothing_now(now: datetime, sign_in: SignIn) -> None:
    tick(make_deployment("chat", now), now, Scene(healthy=4))
    assert "It has that many already: nothing is added or stopped now." in get(sign_in("operator"), "scale/?replicas=4")


# -- wake and forget


def test_one_at_zero_is_woken(now: datetime, sign_in: SignIn) -> None:
    row = make_deployment("chat", now, min_replicas=2)
    tick(row, now, Scene(healthy=0, p95=math.nan, rps=0, zero_by=ZeroBy.OPERATOR))
    client = sign_in("operator")
    text = get(client, "wake/")
    assert "An operator holds it at zero: that ends. Its next tick adds 2 replicas" in text
    send(client, "wake/")
    row.refresh_from_db()
    assert (row.wanted_replicas, Scaler.objects.get().zero_by) == (2, "")


def test_one_that_serves_need_not_be_woken(chat: Deployment, sign_in: SignIn) -> None:
    assert "not at zero" in send(sign_in("operator"), "wake/", 422)


def test_forgetting_shows_each_one_and_is_checked_again(now: datetime, sign_in: SignIn) -> None:
    for name in ("lost-1", "lost 2"):
        tick(make_deployment(name, now, absent_since=builders.before(now, 900)), now, Scene(healthy=3))
    make_deployment("listed", now)
    client = sign_in("operator")
    text = words_of(client.get("/deployments/absent/forget/").content.decode())
    assert "It will forget 2 deployments" in text and "not listed for 15 min ; 3 replicas when last seen" in text
    assert "a replica that still runs goes on running" in text
    answer = client.post("/deployments/absent/forget/", {"seen": "lost-1"})
    assert answer.status_code == 409 and "lost%202" in answer.content.decode()
    assert client.post("/deployments/absent/forget/", {"seen": "lost-1 lost%202", "reason": "moved"}).status_code == 302
    assert list(Deployment.objects.filter(gone_at=None).values_list("deployment_id", flat=True)) == ["listed"]
    assert set(Action.objects.values_list("kind", flat=True)) == {"forget"}


def test_nothing_to_forget_is_said(db: None, sign_in: SignIn) -> None:
    answer = sign_in("operator").post("/deployments/absent/forget/", {})
    assert answer.status_code == 422
    assert "The Gateway lists every deployment that is known" in words_of(answer.content.decode())
