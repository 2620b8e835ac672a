"""Security headers of every answer: a strict Content-Security-Policy and what else a browser can be told to refuse."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.http import HttpRequest, HttpResponse

# Own files only. No inline script or style, no eval, no foreign host, no frame. `connect-src 'self'` covers the
# websocket of the same origin (CSP level 3).
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    )
)

HEADERS: dict[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}

_STATIC = "/static/"
_NOT_KEPT = "private, no-store"

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


class SecurityHeadersMiddleware:
    """Adds HEADERS to every answer, and keeps pages that show data out of shared and history caches."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if not request.path.startswith(_STATIC):
            response.headers.setdefault("Cache-Control", _NOT_KEPT)
        return response


class HeadersOfEveryAnswer:
    """ASGI application in front of all others: what is answered before Django (413, a refused socket) has them too."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Any, send: Callable[[Event], Awaitable[None]]) -> None:
        kept = scope["type"] == "http" and scope["path"].startswith(_STATIC)
        is_open = "websocket.http.response" not in scope.get("extensions", {})

        async def with_headers(event: Event) -> None:
            nonlocal is_open
            is_open = is_open or event["type"] == "websocket.accept"
            if event["type"] == "http.response.start":
                event["headers"] = completed(event.get("headers", ()), kept=kept)
            if event["type"] == "websocket.close" and not is_open:
                refusal = {"type": "websocket.http.response.start", "status": 403, "headers": completed((), kept=False)}
                await send(refusal)
                event = {"type": "websocket.http.response.body", "body": b""}
            await send(event)

        await self._app(scope, receive, with_headers)


def completed(headers: Any, *, kept: bool) -> list[tuple[bytes, bytes]]:
    """These headers and those of HEADERS that are not among them; an answer that is not `kept` says so."""
    given = [(bytes(name), bytes(value)) for name, value in headers]
    names = {name.lower() for name, _ in given}
    wanted = HEADERS if kept else HEADERS | {"Cache-Control": _NOT_KEPT}
    return given + [
        (name.lower().encode(), value.encode()) for name, value in wanted.items() if name.lower().encode() not in names
    ]
