"""Whom the trusted proxy names in the request that opens a socket."""

from typing import Any

from django.conf import settings


def named_by_proxy(scope: dict[str, Any]) -> str:
    """The name in the proxy's header of this handshake; "" without one, or where its peer is no trusted proxy.

    As for pages (`iris_web.login.proxy`), which Django's middleware reads: several headers are one, with commas.
    """
    proxy = settings.IRIS_PROXY
    peer = scope.get("client") or ("", 0)
    if not proxy.enabled or not proxy.is_trusted(str(peer[0])):
        return ""
    header = proxy.user_header.removeprefix("HTTP_").replace("_", "-").lower().encode()
    return ",".join(value.decode("latin-1") for name, value in scope["headers"] if name.lower() == header).strip()
