"""The socket behind a proxy that signs people in: its header is asked for when a socket opens, as by every page."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from iris_web.live.messages import CloseCode
from iris_web.live.vouching import named_by_proxy
from iris_web.login.backends import PROXY_ISSUER
from iris_web.login.configured import Proxy, read_proxy
from iris_web.models import Identity
from tests.live.client import cookie_of, opened
from tests.login.conftest import BACKENDS
from tests.services.stack import LiveStack

pytestmark = pytest.mark.one_database

HEADER = "X-Forwarded-User"


def use_proxy(settings: Any, address: str) -> Proxy:
    env = {"IRIS_TRUSTED_PROXIES": address, "IRIS_PROXY_USER_HEADER": HEADER}
    settings.IRIS_PROXY = read_proxy(env)
    settings.AUTHENTICATION_BACKENDS = BACKENDS
    proxy: Proxy = settings.IRIS_PROXY
    return proxy


@pytest.fixture
def trusted(settings: Any) -> Proxy:
    """This machine is the proxy."""
    return use_proxy(settings, "127.0.0.1")


def by_proxy(user: User) -> str:
    """The cookie of a session that the proxy made."""
    client = Client()
    client.force_login(user, backend=BACKENDS[-1])
    return f"sessionid={client.cookies['sessionid'].value}"


def is_let_in(stack: LiveStack, cookie: str, **headers: str) -> bool:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with opened(stack.url, cookie, headers=sent) as client:
        client.say({"type": "hello", "fragments": [], "topics": []})
        client.until(lambda: bool(client.told) or client.closed is not None, seconds=30)
        return client.closed is None


def test_a_session_that_the_proxy_made_needs_its_header(
    live_stack: LiveStack, people: dict[str, User], trusted: Proxy
) -> None:
    cookie = by_proxy(people["viewer"])
    assert is_let_in(live_stack, cookie, X_Forwarded_User="viewer")
    assert not is_let_in(live_stack, cookie)
    assert not is_let_in(live_stack, cookie, X_Forwarded_User="admin")
    assert is_let_in(live_stack, cookie_of(people["viewer"])), "a password needs no proxy"
    Identity.objects.create(user=people["viewer"], issuer=PROXY_ISSUER, subject="v.ada")
    assert is_let_in(live_stack, cookie, X_Forwarded_User="v.ada"), "known to the proxy by another name"


def test_the_header_of_a_stranger_opens_no_socket(
    live_stack: LiveStack, people: dict[str, User], settings: Any
) -> None:
    use_proxy(settings, "10.0.0.7")
    with opened(live_stack.url, by_proxy(people["viewer"]), headers={HEADER: "viewer"}) as client:
        assert client.until_closed(30) == CloseCode.SIGNED_OUT


def test_a_socket_that_is_open_stays_for_as_long_as_its_session(
    live_stack: LiveStack, people: dict[str, User], trusted: Proxy
) -> None:
    with opened(live_stack.url, by_proxy(people["viewer"]), headers={HEADER: "viewer"}) as client:
        client.hello()
        before = len(client.of("tick"))
        client.until(lambda: len(client.of("tick")) > before + 1, seconds=30)
        people["viewer"].is_active = False
        people["viewer"].groups.clear()
        people["viewer"].save()
        assert client.until_closed(30) == CloseCode.SIGNED_OUT


@pytest.mark.parametrize(
    ("peer", "headers", "name"),
    [
        (["127.0.0.1", 1], [(b"x-forwarded-user", b" ada ")], "ada"),
        (["127.0.0.1", 1], [(b"x-forwarded-user", b"ada"), (b"x-forwarded-user", b"eve")], "ada,eve"),
        (["127.0.0.1", 1], [(b"x_forwarded_user", b"ada")], ""),
        (["10.0.0.7", 1], [(b"x-forwarded-user", b"ada")], ""),
        (None, [(b"x-forwarded-user", b"ada")], ""),
    ],
)
def test_the_proxys_word_is_read_as_for_pages(peer: Any, headers: Any, name: str, trusted: Proxy) -> None:
    assert named_by_proxy({"client": peer, "headers": headers}) == name
