"""When a person last showed who they are. What touches people and tokens asks for it again after a while.

A password counts for its session, an OIDC provider's answer by its `auth_time`, and a proxy's person by the header that
tells the same, or by a password of their own here.
"""

from datetime import datetime

from django.conf import settings
from django.http import HttpRequest

from scaling import clock

CONFIRMED_AT = "iris_confirmed_at"
# With less than this left it is asked before a form is shown, not after it was filled in.
TO_FILL_IN_SECONDS = 120


def confirm(request: HttpRequest, at: float | None = None) -> None:
    """The person has just shown who they are, or at that Unix time."""
    request.session[CONFIRMED_AT] = int(clock.now().timestamp() if at is None else at)


def is_fresh(request: HttpRequest, still_seconds: float = 0) -> bool:
    """Whether that is recent enough to change people and tokens, and stays so for that long."""
    age_seconds = clock.now().timestamp() - max(request.session.get(CONFIRMED_AT, 0), _by_proxy(request))
    return bool(age_seconds + still_seconds < 60 * settings.IRIS_CONFIRM_MINUTES)


def may_open_form(request: HttpRequest) -> bool:
    """Whether a form may be opened: long enough is left to fill it in."""
    return is_fresh(request, min(TO_FILL_IN_SECONDS, 30 * settings.IRIS_CONFIRM_MINUTES))


def _by_proxy(request: HttpRequest) -> float:
    """The Unix time in the proxy's header; 0 without one. From anywhere but the proxy, the header was taken away."""
    header = settings.IRIS_PROXY.time_header
    text = request.META.get(header, "") if header and settings.IRIS_PROXY.enabled else ""
    if not text:
        return 0
    try:
        at = float(text) if text.replace(".", "", 1).isdigit() else datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0
    # A clock that is ahead must not keep a person fresh for ever.
    return at if at <= clock.now().timestamp() + 60 else 0
