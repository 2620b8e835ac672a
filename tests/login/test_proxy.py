"""A proxy that signs people in: believed from its own addresses, and from nowhere else."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from iris_web.login.clients import address_of
from iris_web.login.configured import Proxy, RoleRule, read_oidc, read_proxy
from scaling import people
from scaling.models import Action, Group
from scaling.testing import builders
from tests.login.conftest import PROXY
from tests.pages.conftest import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

ADA = {"X-Forwarded-User": "ada", "X-Forwarded-Groups": "staff,iris-ops"}


@pytest.fixture(autouse=True)
def cluster(db: None) -> Group:
    builders.make_installation()
    return builders.make_group("g")


def test_the_proxy_names_who_is_there_and_their_role(proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    assert client.get("/groups/", headers=ADA).status_code == 200
    ada = User.objects.get()
    assert people.role_name(ada) == "operator" and not ada.has_usable_password()
    assert (Action.objects.get().actor, Action.objects.get().kind) == ("sign-in by proxy", "create_user")


@pytest.mark.parametrize("address", ["10.0.0.8", "127.0.0.1", "203.0.113.9", "", "::1", "not an address"])
def test_the_header_of_any_other_address_is_nothing(address: str, proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=address)
    forwarded = {**ADA, "X-Forwarded-For": PROXY}
    assert client.get("/groups/", headers=forwarded).status_code == 302
    assert not User.objects.exists()


def test_a_session_that_the_proxy_made_is_worth_nothing_beside_it(proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    client.get("/", headers=ADA)
    assert client.get("/groups/", headers=ADA, REMOTE_ADDR="203.0.113.9").status_code == 302
    assert client.get("/groups/", headers=ADA).status_code == 200
    assert client.get("/groups/").status_code == 302, "without its header"


def test_another_person_at_the_same_browser_is_another_person(proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    client.get("/", headers=ADA)
    key = client.session.session_key
    page = client.get("/", headers={"X-Forwarded-User": "eve", "X-Forwarded-Groups": "staff"}).content.decode()
    assert "eve" in words_of(page) and client.session.session_key != key


def test_a_changed_role_counts_at_the_next_request(proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    assert client.get("/groups/g/drain/", headers=ADA).status_code == 200
    assert client.get("/groups/g/drain/", headers=ADA | {"X-Forwarded-Groups": "staff"}).status_code == 403
    assert client.get("/groups/", headers=ADA | {"X-Forwarded-Groups": ""}).status_code == 403
    assert client.get("/groups/g/drain/", headers=ADA).status_code == 200
    assert [action.kind for action in Action.objects.order_by("id")] == ["create_user", *["set_user"] * 3]


def test_nothing_is_written_while_nothing_changes(proxy: Proxy, django_assert_num_queries: Any) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    client.get("/password/", headers=ADA)
    client.get("/password/", headers=ADA)
    with django_assert_num_queries(5):  # the feed, the session, the user, the role, the person of the page
        client.get("/password/", headers=ADA)


def test_without_roles_from_outside_newcomers_get_what_the_setting_says(
    proxy: Proxy, rule: Callable[[RoleRule], None]
) -> None:
    rule(RoleRule())
    assert Client(REMOTE_ADDR=PROXY).get("/groups/", headers=ADA).status_code == 403
    rule(RoleRule(new_users="viewer"))
    assert Client(REMOTE_ADDR=PROXY).get("/groups/", headers={"X-Forwarded-User": "bo"}).status_code == 200


def test_someone_with_a_password_may_come_by_the_proxy_too(proxy: Proxy, people: dict[str, User]) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    client.get("/", headers={"X-Forwarded-User": "admin", "X-Forwarded-Groups": "iris-admins"})
    assert client.get("/admin/", headers={"X-Forwarded-User": "admin", "X-Forwarded-Groups": "iris-admins"}).status_code
    assert User.objects.filter(username="admin").count() == 1


def test_a_login_by_password_goes_on_beside_the_proxy(proxy: Proxy, sign_in: Callable[[str], Client]) -> None:
    client = sign_in("viewer")
    assert client.get("/groups/", REMOTE_ADDR="203.0.113.9").status_code == 200


def test_someone_inactive_is_told_so(proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    client.get("/", headers=ADA)
    User.objects.update(is_active=False)
    assert client.get("/groups/", headers=ADA).status_code == 403


def test_a_newcomer_who_looks_like_someone_is_refused_and_logged(proxy: Proxy, caplog: Any) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    client.get("/", headers=ADA)
    answer = client.get("/groups/", headers={**ADA, "X-Forwarded-User": "Ada"})
    words = words_of(answer.content.decode())
    assert answer.status_code == 403 and "Your name cannot be used here: it can be taken for another name" in words
    assert "looks like" not in words, "a stranger is told nobody's name"
    assert User.objects.count() == 1 and "newcomer with a misleading name refused" in caplog.text
    assert any('"Ada" looks like "ada"' in getattr(line, "reason", "") for line in caplog.records)


def test_the_proxy_tells_when_a_person_signed_in(proxy: Proxy) -> None:
    client = Client(REMOTE_ADDR=PROXY)
    admin = ADA | {"X-Forwarded-Groups": "iris-admins"}
    page = "/admin/auth/user/add/"
    assert client.get(page, headers=admin).status_code == 302
    told = words_of(client.get("/confirm/", headers=admin).content.decode())
    assert "You came by a proxy" in told
    now = int(time.time())
    for at, status in ((now - 3600, 302), (now + 3600, 302), ("soon", 302), (now, 200)):
        assert client.get(page, headers=admin | {"X-Auth-Time": str(at)}).status_code == status, at
    assert client.get(page, headers=admin | {"X-Auth-Time": str(now)}, REMOTE_ADDR="1.2.3.4").status_code == 302


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", "1.1.1.1", "203.0.113.9"),
        (PROXY, "1.1.1.1", "1.1.1.1"),
        (PROXY, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (PROXY, "6.6.6.6, 1.1.1.1, 192.168.3.4", "1.1.1.1"),
        (PROXY, "", PROXY),
        (PROXY, "nonsense", PROXY),
        (PROXY, "6.6.6.6, unknown, 192.168.3.4", "192.168.3.4"),
        (PROXY, "1.1.1.1:4711", "1.1.1.1"),
        (PROXY, "[2001:db8::1]:4711", "2001:db8::1"),
        (PROXY, "[2001:db8::1]", "2001:db8::1"),
        (PROXY, "fe80::1%eth0", "fe80::1"),
        (PROXY, "::ffff:1.1.1.1", "1.1.1.1"),
        (PROXY, "1.1.1.1, [10.0.0.7]junk", PROXY),
        (PROXY, "1.1.1.1:port", PROXY),
        (f"::ffff:{PROXY}", "1.1.1.1", "1.1.1.1"),
        ("", "1.1.1.1", ""),
    ],
)
def test_the_clients_address_is_what_the_last_trusted_proxy_saw(
    peer: str, forwarded: str, address: str, proxy: Proxy
) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=peer, headers={"X-Forwarded-For": forwarded})
    assert address_of(request) == address


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"IRIS_PROXY_USER_HEADER": "X-User"}, "IRIS_TRUSTED_PROXIES: must name the addresses"),
        ({"IRIS_TRUSTED_PROXIES": "10.0.0"}, "IRIS_TRUSTED_PROXIES: expected addresses or networks"),
        ({"IRIS_PROXY_USER_HEADER": "X User"}, "IRIS_PROXY_USER_HEADER: expected a header's name"),
        ({"IRIS_PROXY_ROLES": "staff"}, "IRIS_PROXY_ROLES: expected pairs"),
        ({"IRIS_PROXY_ROLES": "staff=root"}, "IRIS_PROXY_ROLES: expected pairs"),
        ({"IRIS_PROXY_NEW_USERS": "admin"}, "IRIS_PROXY_NEW_USERS: expected viewer or none"),
        ({"IRIS_OIDC_ROLES": "staff=root"}, "IRIS_OIDC_ROLES: expected pairs"),
        ({"IRIS_OIDC_ISSUER": "login.example"}, "IRIS_OIDC_ISSUER: expected an address"),
        ({"IRIS_OIDC_ISSUER": "https://[login"}, "IRIS_OIDC_ISSUER: expected an address"),
        ({"IRIS_OIDC_ISSUER": "http://login.example"}, "IRIS_OIDC_ISSUER: expected https"),
        ({"IRIS_OIDC_ISSUER": "https://login.example"}, "IRIS_OIDC_CLIENT_ID: must be set"),
        (
            {"IRIS_OIDC_ISSUER": "https://l.example", "IRIS_OIDC_CLIENT_ID": "i", "IRIS_OIDC_SCOPES": "email"},
            "IRIS_OIDC_SCOPES: expected openid",
        ),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(env: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_proxy(env)
        read_oidc(env)
