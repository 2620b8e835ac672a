"""Refuses websockets that another site's page opens with our user's cookies."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier
from django.conf import settings
from django.utils.http import is_same_domain

Scope = dict[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
_DEFAULT_PORTS = {"http": 80, "https": 443}


def own_pages_only(app: App) -> App:
    """Let only pages of this very site (host and port) or of CSRF_TRUSTED_ORIGINS through; others get a 403.

    ALLOWED_HOSTS alone would let in a page that another program serves on another port of the same machine.
    """

    async def checked(scope: Scope, receive: Any, send: Any) -> None:
        answer = app if _is_own(scope) else WebsocketDenier()
        await answer(scope, receive, send)

    guarded: App = AllowedHostsOriginValidator(checked)
    return guarded


def _is_own(scope: Scope) -> bool:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    origin = headers.get(b"origin", "")
    if any(_matches(origin, trusted) for trusted in settings.CSRF_TRUSTED_ORIGINS):
        return True
    forwarded = headers.get(b"x-forwarded-host") if settings.USE_X_FORWARDED_HOST else None
    host = forwarded or headers.get(b"host")
    if host is None:
        return True
    try:
        page = urlsplit(origin)
        ours = urlsplit(f"{page.scheme}://{host}")
        return page.hostname is not None and (page.hostname, _port(page)) == (ours.hostname, _port(ours))
    except ValueError:
        return False


def _matches(origin: str, trusted: str) -> bool:
    """Like Django's CSRF check: exact, or `https://*.example.com` for any subdomain."""
    if "*" not in trusted:
        return origin == trusted
    one, pattern = urlsplit(origin), urlsplit(trusted)
    return one.scheme == pattern.scheme and is_same_domain(one.netloc, pattern.netloc.lstrip("*"))


def _port(url: Any) -> int | None:
    return url.port or _DEFAULT_PORTS.get(url.scheme)
