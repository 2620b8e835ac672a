"""Clients of a house with a provider or a proxy."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests
from django.http import HttpResponse
from django.test import Client

from iris_web.login.configured import Oidc, Proxy, RoleRule, read_proxy
from tests.login.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, running

RULE = RoleRule({"iris-admins": "admin", "iris-ops": "operator", "staff": "viewer"})
PROXY = "10.0.0.7"
BACKENDS = [
    "iris_web.login.backends.Throttle",
    "django.contrib.auth.backends.ModelBackend",
    "iris_web.login.backends.ProviderBackend",
    "iris_web.login.backends.ProxyBackend",
]


@pytest.fixture(scope="session")
def one_provider() -> Iterator[Provider]:
    with running() as provider:
        yield provider


@pytest.fixture
def provider(one_provider: Provider, settings: Any) -> Provider:
    """The provider, switched on, with a person `ada` in the group iris-ops."""
    settings.IRIS_OIDC = Oidc(one_provider.issuer, CLIENT_ID, CLIENT_SECRET, label="the company's login", rule=RULE)
    settings.AUTHENTICATION_BACKENDS = BACKENDS
    one_provider.claims = {"preferred_username": "ada", "email": "ada@example.com", "groups": ["iris-ops", "other"]}
    one_provider.sign_with, one_provider.is_down = None, False
    return one_provider


@pytest.fixture
def rule(settings: Any) -> Callable[[RoleRule], None]:
    def use(given: RoleRule) -> None:
        settings.IRIS_OIDC = replace(settings.IRIS_OIDC, rule=given)
        settings.IRIS_PROXY = replace(settings.IRIS_PROXY, rule=given)

    return use


@pytest.fixture
def proxy(settings: Any) -> Proxy:
    """A proxy at 10.0.0.7 that names people, their roles and when they signed in."""
    settings.IRIS_PROXY = read_proxy(
        {
            "IRIS_TRUSTED_PROXIES": f"{PROXY}, 192.168.0.0/16",
            "IRIS_PROXY_USER_HEADER": "X-Forwarded-User",
            "IRIS_PROXY_ROLE_HEADER": "X-Forwarded-Groups",
            "IRIS_PROXY_TIME_HEADER": "X-Auth-Time",
            "IRIS_PROXY_ROLES": "iris-admins=admin,iris-ops=operator,staff=viewer",
        }
    )
    settings.AUTHENTICATION_BACKENDS = BACKENDS
    found: Proxy = settings.IRIS_PROXY
    return found


def to_provider(client: Client, path: str = "/login/provider/") -> str:
    """Off to the provider, through its page, to the address it sends the browser back to."""
    there = client.get(path)
    assert there.status_code == 302, there.content
    back = requests.get(there["Location"], allow_redirects=False, timeout=10)
    return back.headers["Location"].removeprefix("http://testserver")


def sign_in(client: Client, path: str = "/login/provider/") -> HttpResponse:
    """There and back; the answer of the callback."""
    answer: HttpResponse = client.get(to_provider(client, path))
    return answer
