"""Where a request comes from: behind trusted proxies, the address that the last of them took it from."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from iris_web.login.configured import Proxy
from iris_web.login.ip_addresses import Address, household, read_address


def address_of(request: HttpRequest) -> str:
    """The client's address, "" where none is known; `X-Forwarded-For` counts as far as trusted proxies wrote it."""
    return str(client_address(request.META, settings.IRIS_PROXY) or "")


def counted_address(request: HttpRequest) -> str | None:
    """What wrong passwords are counted by: the address, of IPv6 its /64; None for all without an address together."""
    address = client_address(request.META, settings.IRIS_PROXY)
    return None if address is None else str(household(address))


def client_address(meta: Mapping[str, Any], proxy: Proxy) -> Address | None:
    """Walks back from the peer while the address is a trusted proxy's own, and stays where the next one is none."""
    address = read_address(str(meta.get("REMOTE_ADDR") or ""))
    for text in reversed(str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")):
        earlier = read_address(text)
        if address is None or earlier is None or not proxy.is_trusted(str(address)):
            break
        address = earlier
    return address
