"""Editing a deployment's settings: both values, a review, nobody's edit overwritten."""

import json
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Deployment
from scaling.operations import EDIT_FIELDS
from scaling.testing.sample_deployments import Scene, make_deployment, tick
from tests.pages.conftest import words_of

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]
PATH = "/deployments/chat/edit/"
EMPTY = dict.fromkeys(EDIT_FIELDS, "")


@pytest.fixture
def chat(now: datetime) -> Deployment:
    row = make_deployment("chat", now, overrides={"target_rps": 12.0})
    tick(row, now, Scene(healthy=4, p95=800, rps=44))
    return row


def send(client: Client, status: int = 200, step: str = "review", **fields: object) -> str:
    given = {**EMPTY, "target_rps": "12", "version": 1, **fields}
    answer = client.post(PATH, {"step": step, **given})
    assert answer.status_code == status, words_of(answer.content.decode())
    return answer.content.decode()


def test_the_form_shows_both_values_and_which_is_in_force(chat: Deployment, sign_in: SignIn) -> None:
    page = sign_in("admin").get(PATH).content.decode()
    text = words_of(page)
    assert "Empty is the Gateway's: 10/s. In force: 12/s, set here." in text
    assert "Empty is the Gateway's: 10. In force: 10, the Gateway's." in text
    assert "Empty is the default: 2 min. In force: 2 min, the default." in text
    assert 'name="target_rps" value="12"' in page


def test_a_change_is_reviewed_with_what_follows_from_it(chat: Deployment, sign_in: SignIn) -> None:
    text = words_of(send(sign_in("admin"), min_replicas=6, target_latency_p95_ms=1000))
    assert "Min replicas It has 4: the next tick adds 2 replicas. 1 (the Gateway's) 6 (set here)" in text
    assert "Target p95 It is at 0.8 times the new target now. 500 ms (the Gateway's) 1,000 ms (set here)" in text
    assert not Action.objects.exists()


def test_a_lower_maximum_says_how_many_go(chat: Deployment, sign_in: SignIn) -> None:
    text = words_of(send(sign_in("admin"), max_replicas=2))
    assert "It has 4: 2 healthy replicas go, the oldest first, one per tick." in text


def test_saving_sets_the_overrides_and_an_empty_field_gives_the_gateways_back(
    chat: Deployment, sign_in: SignIn
) -> None:
    send(sign_in("admin"), 302, "save", max_replicas=20, target_rps="", reason="launch")
    chat.refresh_from_db()
    assert chat.overrides == {"max_replicas": 20}
    action = Action.objects.get()
    assert (action.kind, action.reason, action.target) == ("set_targets", "launch", "deployment chat")
    assert action.before == {"max_replicas": None, "target_rps": 12.0}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"min_replicas": 11}, "Expected at most max_replicas (10), got 11."),
        ({"max_replicas": "many"}, "Expected a whole number of at least 0"),
        ({"max_replicas": "2.5"}, "Expected a whole number of at least 0"),
        ({"tolerance": "1.5"}, "Expected a number of at most"),
        ({"cooldown_seconds": "nan"}, "Expected a number of at least 0"),
        ({}, "Nothing was changed yet."),
    ],
)
def test_what_cannot_be_meant_is_refused_beside_its_field(
    chat: Deployment, sign_in: SignIn, fields: dict[str, str], sentence: str
) -> None:
    assert sentence in words_of(send(sign_in("admin"), 422, **fields))
    assert not Action.objects.exists()


def test_two_who_edit_at_once_overwrite_nothing(chat: Deployment, sign_in: SignIn) -> None:
    operations.edit_deployment(Actor.user("ana"), "chat", 1, {"cooldown_seconds": 60})
    base = json.dumps({**EMPTY, "target_rps": "12"})
    for step in ("review", "save"):
        page = send(sign_in("admin"), 409, step, max_replicas=20, base=base)
        assert "Nothing was saved. Your own changes are kept below" in words_of(page)
        assert 'name="max_replicas" value="20"' in page and 'name="cooldown_seconds" value="60"' in page
        assert 'name="version" value="2"' in page
    chat.refresh_from_db()
    assert chat.overrides == {"target_rps": 12.0, "cooldown_seconds": 60.0}


def test_from_the_review_one_may_go_back_to_the_form(chat: Deployment, sign_in: SignIn) -> None:
    page = send(sign_in("admin"), 200, "edit", max_replicas=20, reason="launch")
    assert 'name="max_replicas" value="20"' in page and 'value="launch"' in page


def test_an_operator_may_not_edit(chat: Deployment, sign_in: SignIn) -> None:
    client = sign_in("operator")
    assert client.get(PATH).status_code == client.post(PATH, {"step": "save", "version": 1}).status_code == 403
