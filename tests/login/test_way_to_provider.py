"""The way to the provider and back: what anybody may set off, and how little it may cost."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from iris_web.login import discovery
from iris_web.login.arrivals import Arrival, ArrivalRefused, person_of
from iris_web.login.backends import PROXY_ISSUER
from iris_web.login.discovery import Discovery, NotDiscovered
from iris_web.models import Identity
from scaling.clock import FrozenClock
from scaling.models import Action
from scaling.testing import builders
from tests.conftest import PASSWORD
from tests.login.conftest import RULE, sign_in, to_provider
from tests.login.oidc_provider import Provider

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture(autouse=True)
def cluster(db: None) -> None:
    builders.make_installation()


def lasts(client: Client) -> timedelta:
    """How long the session row of this browser is kept from now on."""
    return Session.objects.get(session_key=client.session.session_key).expire_date - timezone.now()


def test_the_session_of_the_way_there_ends_soon(provider: Provider, settings: Any) -> None:
    client = Client()
    to_provider(client)
    assert lasts(client) <= timedelta(seconds=600)
    assert client.cookies["sessionid"]["max-age"] <= 600
    settings.SESSION_COOKIE_AGE = 7 * 86_400
    assert sign_in(client).status_code == 302
    assert lasts(client) > timedelta(days=6)
    assert client.cookies["sessionid"]["max-age"] == 7 * 86_400


def test_someone_who_turns_back_and_gives_a_password_stays_as_long_as_any(
    provider: Provider, people: dict[str, User]
) -> None:
    client = Client()
    to_provider(client)
    client.post("/login/", {"username": "viewer", "password": PASSWORD})
    assert lasts(client) > timedelta(days=1)


def test_showing_again_who_one_is_does_not_shorten_a_login(provider: Provider) -> None:
    client = Client()
    sign_in(client)
    to_provider(client, "/login/provider/?again=1")
    assert lasts(client) > timedelta(days=1)


def test_a_way_that_does_not_begin_makes_no_session(provider: Provider, settings: Any) -> None:
    settings.IRIS_OIDC = replace(settings.IRIS_OIDC, client_id="of the way that does not begin")
    provider.is_down = True
    assert Client().get("/login/provider/").status_code == 503
    assert not Session.objects.exists()


def test_a_provider_that_is_away_is_not_asked_by_each_who_comes(
    provider: Provider, settings: Any, frozen_clock: FrozenClock
) -> None:
    settings.IRIS_OIDC = replace(settings.IRIS_OIDC, client_id="of a provider that is away")
    provider.is_down, before = True, provider.discoveries
    statuses = [Client().get("/login/provider/").status_code for _ in range(3)]
    assert (statuses, provider.discoveries - before) == ([503] * 3, 1)
    provider.is_down = False
    frozen_clock.advance(discovery.FAILURE_SECONDS - 1)
    assert Client().get("/login/provider/").status_code == 503
    frozen_clock.advance(1)
    assert [Client().get("/login/provider/").status_code for _ in range(2)] == [302] * 2
    assert provider.discoveries - before == 2


@pytest.fixture
def slow() -> Iterator[tuple[Discovery, threading.Event]]:
    """A provider that answers nobody until the event is set, with one who waits for it already."""
    answers, is_asked = threading.Event(), threading.Event()

    def ask(name: str) -> str:
        is_asked.set()
        assert answers.wait(60)
        return f"client of {name}"

    asking = Discovery(ask)
    first = threading.Thread(target=asking.client, args=("a",), daemon=True)
    first.start()
    assert is_asked.wait(60)
    yield asking, answers
    answers.set()
    first.join(60)


def test_one_waits_for_a_slow_provider_and_others_are_sent_away(
    slow: tuple[Discovery, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, answers = slow
    monkeypatch.setattr(discovery, "BUSY_SECONDS", 0.01)
    with pytest.raises(NotDiscovered):
        asking.client("a")
    monkeypatch.setattr(discovery, "BUSY_SECONDS", 60)
    answers.set()
    assert asking.client("a") == "client of a"


@pytest.mark.parametrize("issuer", [PROXY_ISSUER, "https://another.example"])
def test_someone_whom_another_house_knows_is_not_taken_over(issuer: str, provider: Provider) -> None:
    ada = User.objects.create_user("ada")
    Identity.objects.create(user=ada, issuer=issuer, subject="ada")
    client = Client()
    assert sign_in(client).status_code == 403 and client.get("/").status_code == 302
    assert Identity.objects.get().issuer == issuer and not Action.objects.exists()
    with pytest.raises(ArrivalRefused, match="Someone else is named ada here"):
        person_of(Arrival(provider.issuer, "s-1", "ada"), RULE)
