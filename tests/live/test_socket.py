"""Who may open the live socket, and when it is taken away again."""

from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.test import Client
from websockets.exceptions import InvalidStatus

from scaling import feed
from tests.live.client import cookie_of, opened
from tests.live.conftest import Open
from tests.services.stack import LiveStack

Refused = InvalidStatus


def status_of(attempt: Callable[[], object]) -> int:
    with pytest.raises(InvalidStatus) as refused:
        attempt()
    return int(refused.value.response.status_code)


def try_to_open(url: str, **options: object) -> None:
    with opened(url, **options):  # type: ignore[arg-type]
        pass


def test_without_a_session_the_socket_is_closed_and_nothing_is_said(live_stack: LiveStack) -> None:
    with opened(live_stack.url) as client:
        assert client.until_closed() == 4401
    assert client.told == []


@pytest.mark.parametrize(
    "cookie", ["sessionid=", "sessionid=nonsense", "sessionid=" + "a" * 32, "other=1", 'sessionid="\\000abcdefgh"']
)
def test_a_made_up_session_is_no_session(live_stack: LiveStack, cookie: str) -> None:
    with opened(live_stack.url, cookie) as client:
        assert client.until_closed() == 4401


def test_a_user_without_a_role_is_refused(page: Open) -> None:
    with page("outsider") as client:
        assert client.until_closed() == 4401


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_each_role_may_listen(page: Open, role: str) -> None:
    with page(role) as client:
        assert client.hello(str(feed.head()))["resync"] is False


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://localhost.evil.example", "http://127.0.0.1:1", "null", "https://127.0.0.1"],
)
def test_a_page_of_another_site_or_port_is_refused_with_our_cookies(
    live_stack: LiveStack, people: dict[str, User], origin: str
) -> None:
    cookie = cookie_of(people["admin"])
    assert status_of(lambda: try_to_open(live_stack.url, cookie=cookie, origin=origin)) == 403


def test_a_page_of_a_trusted_origin_is_let_in(
    live_stack: LiveStack, people: dict[str, User], settings: LazySettings
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["http://localhost:9", "https://*.127.0.0.1"]
    with opened(live_stack.url, cookie_of(people["viewer"]), origin="http://localhost:9") as client:
        assert client.hello(str(feed.head()))


def test_no_other_address_answers(live_stack: LiveStack, people: dict[str, User]) -> None:
    cookie = cookie_of(people["admin"])
    assert status_of(lambda: try_to_open(live_stack.url, cookie=cookie, path="/ws/other")) == 403


def test_signing_out_ends_the_socket(page: Open, live_stack: LiveStack, people: dict[str, User]) -> None:
    browser = Client()
    browser.force_login(people["viewer"])
    with opened(live_stack.url, f"sessionid={browser.cookies['sessionid'].value}") as client, page() as other:
        client.hello(str(feed.head()))
        other.hello(str(feed.head()))
        browser.logout()
        assert client.until_closed() == 4401
        other.listen(1)
        assert other.closed is None


def test_a_session_that_expires_ends_the_socket(page: Open) -> None:
    with page() as client:
        client.hello(str(feed.head()))
        Session.objects.all().delete()
        assert client.until_closed() == 4401


def test_a_new_password_ends_the_sockets_of_the_old_one(page: Open, people: dict[str, User]) -> None:
    with page() as client:
        client.hello(str(feed.head()))
        people["viewer"].set_password("another horse battery")
        people["viewer"].save()
        assert client.until_closed() == 4401


def test_a_deactivated_user_is_cut_off(page: Open, people: dict[str, User]) -> None:
    with page("admin") as client:
        client.hello(str(feed.head()))
        User.objects.filter(pk=people["admin"].pk).update(is_active=False)
        assert client.until_closed() == 4401


def test_another_role_ends_the_socket_with_a_code_of_its_own(page: Open, people: dict[str, User]) -> None:
    with page("admin") as client:
        client.hello(str(feed.head()))
        people["admin"].groups.set([Group.objects.get(name="viewer")])
        assert client.until_closed() == 4403


@pytest.mark.parametrize(
    "said",
    ["{", "[]", '"hello"', '{"type":"drain"}', '{"type":"hello","topics":"all"}', '{"type":"hello","fragments":[1]}'],
)
def test_what_no_page_says_ends_the_socket_with_one_sentence(page: Open, said: str) -> None:
    with page() as client:
        client.say(said)
        assert client.until_closed() == 4400
        assert "expected" in client.reason


def test_too_much_said_at_once_ends_the_socket(page: Open) -> None:
    with page() as client:
        client.say("x" * 200_000)
        assert client.until_closed() == 1009
