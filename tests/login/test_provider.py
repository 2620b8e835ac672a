"""Signing in by OpenID Connect, against a provider that speaks it over HTTP."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from joserfc.jwk import RSAKey

from iris_web.login.configured import RoleRule
from iris_web.models import Identity
from scaling import people
from scaling.models import Action, Group
from scaling.testing import builders
from tests.login.conftest import sign_in, to_provider
from tests.login.oidc_provider import Provider
from tests.pages.conftest import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture(autouse=True)
def cluster(db: None) -> Group:
    builders.make_installation()
    return builders.make_group("g")


def test_someone_new_comes_with_the_role_of_their_groups(provider: Provider) -> None:
    client = Client()
    page = client.get("/login/?next=/groups/").content.decode()
    assert "Sign in with the company&#x27;s login" in page and 'href="/login/provider/?next=%2Fgroups%2F"' in page
    assert sign_in(client, "/login/provider/?next=/groups/")["Location"] == "/groups/"
    assert client.get("/groups/").status_code == 200
    ada = User.objects.get(username="ada")
    assert people.role_name(ada) == "operator" and ada.email == "ada@example.com" and not ada.has_usable_password()
    action = Action.objects.get()
    assert (action.kind, action.target) == ("create_user", "user ada")
    assert action.actor == f"sign-in by {provider.issuer}"


def test_the_request_carries_state_nonce_and_a_hashed_challenge(provider: Provider) -> None:
    client = Client()
    to_provider(client)
    first = provider.asked
    to_provider(client)
    assert first["code_challenge_method"] == "S256" and first["scope"] == "openid profile email"
    assert first["redirect_uri"] == "http://testserver/login/provider/callback/"
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) >= 20 and first[name] != provider.asked[name]


def test_a_login_makes_a_new_session(provider: Provider) -> None:
    client = Client()
    back = to_provider(client)
    before = client.session.session_key
    client.get(back)
    assert client.session.session_key != before


def test_an_answer_counts_once_and_in_its_own_browser(provider: Provider) -> None:
    client = Client()
    back = to_provider(client)
    assert Client().get(back).status_code == 403
    assert client.get(back).status_code == 302
    again = Client()
    to_provider(again)
    assert again.get(back).status_code == 403
    assert again.get("/").status_code == 302


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": None},
        {"iss": "http://evil.example"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"azp": "another-client"},
        {"preferred_username": ""},
    ],
)
def test_a_token_that_proves_nothing_lets_nobody_in(claims: dict[str, Any], provider: Provider) -> None:
    provider.claims |= claims
    client = Client()
    answer = sign_in(client)
    assert answer.status_code == 403 and "Sign in" in answer.content.decode()
    assert not User.objects.exists() and client.get("/").status_code == 302


def test_a_token_of_another_key_lets_nobody_in(provider: Provider) -> None:
    provider.sign_with = RSAKey.generate_key(2048, {"kid": "one"})
    assert sign_in(Client()).status_code == 403
    assert not User.objects.exists()


def test_what_the_provider_refuses_is_said(provider: Provider) -> None:
    client = Client()
    client.get("/login/provider/")
    answer = client.get("/login/provider/callback/?error=access_denied&error_description=<b>no</b>")
    assert answer.status_code == 403 and b"<b>no" not in answer.content
    assert Client().get("/login/provider/callback/").status_code == 403


def test_a_provider_that_is_away_is_said(provider: Provider, settings: Any) -> None:
    settings.IRIS_OIDC = replace(settings.IRIS_OIDC, client_id="not yet asked")
    provider.is_down = True
    answer = Client().get("/login/provider/")
    assert answer.status_code == 503 and "does not answer" in words_of(answer.content.decode())


def test_without_a_provider_nobody_comes_that_way() -> None:
    assert Client().get("/login/provider/").status_code == 404
    assert "Sign in with" not in Client().get("/login/").content.decode()


def test_a_role_follows_the_groups_at_each_login(provider: Provider) -> None:
    User.objects.create_superuser("root")
    sign_in(Client())
    for groups, role in ((["staff"], "viewer"), (["iris-admins", "staff"], "admin"), ("iris-ops staff", "operator")):
        provider.claims["groups"] = groups
        sign_in(Client())
        assert people.role_name(User.objects.get(username="ada")) == role
    provider.claims["groups"] = []
    client = Client()
    sign_in(client)
    assert people.role_name(User.objects.get(username="ada")) == "" and client.get("/").status_code == 403
    assert [action.kind for action in Action.objects.order_by("id")] == ["create_user", *["set_user"] * 4]


def test_without_a_mapping_an_admin_gives_the_roles(
    provider: Provider, rule: Callable[[RoleRule], None], people: dict[str, User]
) -> None:
    rule(RoleRule(new_users="viewer"))
    sign_in(Client())
    ada = User.objects.get(username="ada")
    assert ada.groups.get().name == "viewer"
    ada.groups.set([people["operator"].groups.get()])
    sign_in(Client())
    assert User.objects.get(username="ada").groups.get().name == "operator"


def test_the_last_admin_keeps_the_role_that_their_groups_no_longer_give(provider: Provider) -> None:
    provider.claims["groups"] = ["iris-admins"]
    sign_in(Client())
    provider.claims["groups"] = ["staff"]
    client = Client()
    assert sign_in(client).status_code == 302
    assert people.role_name(User.objects.get()) == "admin" and client.get("/admin/").status_code == 200


def test_a_name_here_is_not_taken_by_someone_of_that_name_there(provider: Provider) -> None:
    User.objects.create_superuser("ada", password="correct horse battery")
    client = Client()
    answer = sign_in(client)
    assert answer.status_code == 403 and "Someone else is named ada here" in words_of(answer.content.decode())
    assert client.get("/").status_code == 302 and not Identity.objects.exists()


def test_someone_prepared_without_a_password_is_bound_to_the_first_of_that_name(provider: Provider) -> None:
    prepared = User.objects.create_user("ada")
    sign_in(Client())
    assert Identity.objects.get().user == prepared
    provider.claims["sub"] = "s-2"
    assert sign_in(Client()).status_code == 403


def test_a_person_stays_who_they_are_under_a_new_name(provider: Provider) -> None:
    sign_in(Client())
    provider.claims["preferred_username"] = "ada.lovelace"
    sign_in(Client())
    assert User.objects.get().username == "ada"


@pytest.mark.parametrize("name", ["a b", "a" * 151, "ada\0", "<ada>", "\u0430da", "ada\u3164"])
def test_a_name_that_cannot_be_used_is_said(name: str, provider: Provider) -> None:
    provider.claims["preferred_username"] = name
    answer = sign_in(Client())
    assert answer.status_code == 403 and "Your name cannot be used here" in words_of(answer.content.decode())


def test_someone_inactive_is_not_let_in(provider: Provider) -> None:
    sign_in(Client())
    User.objects.update(is_active=False)
    client = Client()
    assert sign_in(client).status_code == 403 and client.get("/").status_code == 302


def test_a_person_of_the_provider_confirms_there(provider: Provider) -> None:
    provider.claims |= {"groups": ["iris-admins"], "auth_time": int(time.time()) - 3600}
    client = Client()
    sign_in(client)
    asked = client.get("/admin/auth/user/add/")
    assert asked["Location"] == "/confirm/?next=%2Fadmin%2Fauth%2Fuser%2Fadd%2F"
    page = client.get(asked["Location"]).content.decode()
    assert "Sign in again with the company" in page and 'type="password"' not in page
    back = "/login/provider/?again=1&next=/admin/auth/user/add/"
    assert sign_in(client, back).status_code == 403, "the provider did not ask anew"
    assert provider.asked["prompt"] == "login" and provider.asked["max_age"] == "0"
    provider.claims["auth_time"] = int(time.time())
    assert sign_in(client, back)["Location"] == "/admin/auth/user/add/"
    assert client.get("/admin/auth/user/add/").status_code == 200


def test_nobody_confirms_for_someone_else(provider: Provider) -> None:
    provider.claims |= {"groups": ["iris-admins"], "auth_time": 1}
    client = Client()
    sign_in(client)
    provider.claims |= {"sub": "s-2", "preferred_username": "eve", "auth_time": int(time.time())}
    answer = sign_in(client, "/login/provider/?again=1")
    assert answer.status_code == 403 and client.get("/admin/auth/user/add/").status_code == 302


def test_no_answer_leads_elsewhere(provider: Provider) -> None:
    assert sign_in(Client(), "/login/provider/?next=https://evil.example/")["Location"] == "/"
