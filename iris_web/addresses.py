"""Host names and origins as configuration gives them: a mistake in one would only show as a 400 or a 403 later."""

import re
from urllib.parse import urlsplit

_NAME = r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?"
_ADDRESS = r"\[[0-9a-f:.]+\]"
_HOST = re.compile(rf"\*|\.?{_NAME}|{_ADDRESS}")
_ORIGIN = re.compile(rf"(https?)://((?:\*\.)?{_NAME}|{_ADDRESS})(?::([0-9]{{1,5}}))?/?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def read_hosts(text: str) -> list[str]:
    """`iris.example, 10.0.0.7` as a list; ValueError in one sentence. Browsers name no port here that would count."""
    return [_host(item) for item in _items(text)]


def read_origins(text: str) -> list[str]:
    """`https://iris.example` and the like, written as browsers write them; ValueError in one sentence."""
    return [_origin(item) for item in _items(text)]


def read_broker(text: str) -> str:
    """The address of a Redis server as it is given, or ""; ValueError in one sentence, which tells no password."""
    address = text.strip()
    try:
        parts = urlsplit(address)
        is_meant = (
            bool(parts.path.strip("/"))
            if parts.scheme == "unix"
            else parts.scheme in ("redis", "rediss")
            and bool(parts.hostname)
            and parts.port != 0
            and re.fullmatch(r"(/[0-9]{0,4})?", parts.path) is not None
        )
    except ValueError:
        is_meant = False
    if address and (not is_meant or parts.fragment or not address.isprintable()):
        raise ValueError("expected the address of a Redis server such as redis://host:6379/0, rediss://… or unix://…")
    return address


def _items(text: str) -> list[str]:
    return [item.strip().lower() for item in text.split(",") if item.strip()]


def _host(item: str) -> str:
    if not _HOST.fullmatch(item):
        raise ValueError(f"expected names such as iris.example, without scheme and port, got {item!r}")
    return item


def _origin(item: str) -> str:
    found = _ORIGIN.fullmatch(item)
    if not found:
        raise ValueError(f"expected origins such as https://iris.example, without a path, got {item!r}")
    scheme, host, port = found.groups()
    if port and not 1 <= int(port) <= 65535:
        raise ValueError(f"expected a port from 1 to 65535, got {item!r}")
    return f"{scheme}://{host}" + (f":{port}" if port and port != _DEFAULT_PORTS[scheme] else "")
