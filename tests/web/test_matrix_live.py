"""Every topic and fragment of the live socket with everyone who may knock."""

import json
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from websockets.exceptions import ConnectionClosed, InvalidStatus

from iris_web.access import Role
from iris_web.live import fragments, hello
from scaling import feed
from tests.live.client import LiveClient, cookie_of, opened
from tests.services.stack import LiveStack
from tests.web.expectations import FRAGMENTS, SOCKETS, TOPICS, Person, Token

import_module(settings.ROOT_URLCONF)
SIGNED_OUT = 4401


def own_fragments() -> list[str]:
    """The names of all fragments of the site; the tests of the socket have some of their own."""
    return [name for name in fragments.names() if not name.startswith("test")]


def test_every_fragment_and_topic_has_its_expectation() -> None:
    unknown = [name for name in own_fragments() if name.partition(".")[0] not in FRAGMENTS]
    assert unknown == [], "write into tests/web/expectations.py who may see these"
    fixed = [one.topics for one in map(fragments._registry.__getitem__, own_fragments()) if not callable(one.topics)]
    topics = {topic.partition(":")[0] for of_one in fixed for topic in of_one}
    assert sorted(topics - set(TOPICS)) == [], "write into tests/web/expectations.py who may follow these"


@pytest.mark.parametrize("role", Role)
def test_a_fragment_is_for_exactly_those_who_may(role: Role) -> None:
    for name in own_fragments():
        said = {"type": "hello", "fragments": [{"name": name, "params": {"no such": "parameter"}}]}
        (refusal,) = hello.read(json.dumps(said), role).refusals
        is_refused = "your role" in refusal
        assert is_refused is (Person(role.value) not in FRAGMENTS[name.partition(".")[0]]), name


def told_of_everything(client: LiveClient) -> None:
    """Follow every topic, make one event on each, and wait until all have come."""
    assert client.hello(str(feed.head()), topics=sorted(TOPICS))["resync"] is False
    for topic in TOPICS:
        feed.publish(topic, "matrix", {"of": topic})
    client.until(lambda: {event["payload"]["of"] for event in client.events()} == set(TOPICS), seconds=30)


@pytest.mark.one_database
def test_exactly_the_allowed_people_follow_every_topic(live_stack: LiveStack, people: dict[str, User]) -> None:
    for person in Person:
        cookie = "" if person is Person.ANONYMOUS else cookie_of(people[person.value])
        with opened(live_stack.url, cookie) as client:
            if person in SOCKETS:
                told_of_everything(client)
            else:
                with suppress(ConnectionClosed):
                    client.say({"type": "hello", "topics": sorted(TOPICS), "fragments": []})
                assert client.until_closed(30) == SIGNED_OUT, person
                assert client.told == []


@pytest.mark.one_database
def test_no_token_opens_the_socket(live_stack: LiveStack, secret_of: Callable[[Token], str]) -> None:
    for kind in Token:
        bearer = {"Authorization": f"Bearer {secret_of(kind)}"}
        with opened(live_stack.url, headers=bearer) as client:
            assert client.until_closed(30) == SIGNED_OUT, kind
            assert client.told == []


@pytest.mark.one_database
@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
def test_no_page_of_another_site_opens_the_socket(origin: str, live_stack: LiveStack, people: dict[str, User]) -> None:
    for person in (Person.VIEWER, Person.OPERATOR, Person.ADMIN):
        with (
            pytest.raises(InvalidStatus) as refused,
            opened(live_stack.url, cookie_of(people[person.value]), origin=origin, has_origin=bool(origin)),
        ):
            pass
        assert refused.value.response.status_code == 403
