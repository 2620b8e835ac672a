"""Where a request comes from: behind trusted proxies, the address that the last of them took it from."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from iris_web.login.configured import Proxy


def address_of(request: HttpRequest) -> str:
    """The client's address; `X-Forwarded-For` counts only as far as trusted proxies wrote it."""
    return client_address(request.META, settings.IRIS_PROXY)


def client_address(meta: Mapping[str, Any], proxy: Proxy) -> str:
    """Walks back from the peer while the address is a trusted proxy's own."""
    address = str(meta.get("REMOTE_ADDR") or "")
    for earlier in reversed(str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")):
        if not proxy.is_trusted(address) or not earlier.strip():
            break
        address = earlier.strip()[:64]
    return address
