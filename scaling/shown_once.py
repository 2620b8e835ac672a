"""A secret that one browser may look at for some minutes, and that is stored nowhere as it is.

Mixed with random bytes as long as itself (a one-time pad), it is parted: the session, which a database keeps, holds the
mixture; a cookie for the one page that shows it, the random bytes. Neither half alone tells anything of it. The halves
are dropped when the person says that it is copied, when the time is over, and with the session.
"""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from scaling import clock

MINUTES = 5
COOKIE = "iris_shown_once"
_SESSION = "iris_shown_once"


def keep(request: HttpRequest, response: HttpResponse, path: str, secret: str) -> None:
    """Let the page at `path` show it to this browser, and no other page or browser."""
    text = secret.encode()
    pad = secrets.token_bytes(len(text))
    until = clock.now().timestamp() + 60 * MINUTES
    request.session[_SESSION] = {"path": path, "until": until, "mixed": _written(_mixed(text, pad))}
    response.set_cookie(
        COOKIE,
        _written(pad),
        max_age=60 * MINUTES,
        path=path,
        httponly=True,
        samesite="Strict",
        secure=request.is_secure() or settings.SESSION_COOKIE_SECURE,
    )


def shown(request: HttpRequest) -> str:
    """The secret of this page; "" where there is none (any more)."""
    drop_old(request)
    kept = request.session.get(_SESSION, {})
    if kept.get("path") != request.path:
        return ""
    try:
        return _mixed(_read(kept["mixed"]), _read(request.COOKIES.get(COOKIE, ""))).decode()
    except ValueError:
        # The cookie is gone, or not the one that belongs to it.
        return ""


def drop_old(request: HttpRequest) -> None:
    """Drop the session's half when its time is over."""
    kept = request.session.get(_SESSION)
    if kept and clock.now().timestamp() >= kept["until"]:
        del request.session[_SESSION]


def drop(request: HttpRequest, response: HttpResponse) -> None:
    """It is copied: drop both halves."""
    if request.session.get(_SESSION, {}).get("path") == request.path:
        del request.session[_SESSION]
    response.delete_cookie(COOKIE, path=request.path, samesite="Strict")


def _mixed(text: bytes, pad: bytes) -> bytes:
    """Raises ValueError where they are not of one length. Mixed twice, a text is itself again."""
    return bytes(one ^ other for one, other in zip(text, pad, strict=True))


def _written(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode()


def _read(text: str) -> bytes:
    return urlsafe_b64decode(text.encode())
