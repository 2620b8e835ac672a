"""How long a login lasts: so long without a request, and so long in all. Rotated at login by Django itself."""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.contrib import auth, messages
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from iris_web.login.fresh import confirm
from scaling import clock

BEGAN_AT, SEEN_AT = "iris_began_at", "iris_seen_at"
# A busy page must not turn each read into a write.
NOTED_EVERY_SECONDS = 60
PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"  # noqa: S105 - the name of a class


def is_over(session: Mapping[str, Any]) -> bool:
    """Whether a login is older than it may be, or was left alone for too long; a setting of 0 is no limit."""
    now = clock.now().timestamp()
    limits = ((BEGAN_AT, settings.IRIS_SESSION_HOURS), (SEEN_AT, settings.IRIS_SESSION_IDLE_HOURS))
    return any(hours and now - session.get(key, now) >= hours * 3600 for key, hours in limits)


@receiver(user_logged_in)
def _begin(sender: object, request: HttpRequest, user: Any, **_: Any) -> None:  # noqa: ARG001 - a signal's signature
    """A login begins; a password is a proof of the moment, other ways say for themselves when theirs was."""
    now = int(clock.now().timestamp())
    # The session may have begun as that of a stranger on the way to a provider, which ends soon.
    request.session.set_expiry(None)
    request.session[BEGAN_AT] = request.session[SEEN_AT] = now
    if request.session.get(auth.BACKEND_SESSION_KEY) == PASSWORD_BACKEND:
        confirm(request)


class SessionLifetimeMiddleware:
    """Ends logins that are over, and notes at most once a minute that a person is there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.session.get(auth.SESSION_KEY) is not None:
            now = clock.now().timestamp()
            if is_over(request.session):
                auth.logout(request)
                messages.info(request, "You were signed out because your login had grown old.")
            elif now - request.session.get(SEEN_AT, 0) >= NOTED_EVERY_SECONDS:
                request.session[SEEN_AT] = int(now)
        return self.get_response(request)
