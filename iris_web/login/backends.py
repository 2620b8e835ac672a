"""Which way in a session came by: Django keeps the backend's name in it, and ends it when that way is switched off."""

from typing import Any

from axes.backends import AxesStandaloneBackend
from django.conf import settings
from django.contrib.auth.backends import ModelBackend, RemoteUserBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from iris_web.login.arrivals import Arrival, ArrivalRefused, person_of

PROXY_ISSUER = "proxy"


class Throttle(AxesStandaloneBackend):
    """Stops passwords after too many wrong ones. What another house has proved is not guessed at."""

    def authenticate(
        self, request: HttpRequest | None, username: Any = None, password: Any = None, **more: Any
    ) -> None:
        if request is not None and password is not None:
            super().authenticate(request, username=username, password=password, **more)


class ProviderBackend(ModelBackend):
    """People of the OIDC provider. They are proved by `iris_web.login.provider`, never by a password."""

    def authenticate(self, request: HttpRequest | None, *_: Any, **_more: Any) -> None:  # noqa: ARG002
        return None


class ProxyBackend(RemoteUserBackend):
    """People whom the trusted proxy names."""

    def authenticate(self, request: HttpRequest | None, remote_user: str | None = None) -> User | None:  # type: ignore[override]
        if request is None or not remote_user:
            return None
        proxy = settings.IRIS_PROXY
        words = proxy_words(request)
        arrival = Arrival(PROXY_ISSUER, remote_user[:255], remote_user, words=words, names_people=True)
        try:
            return person_of(arrival, proxy.rule)
        except ArrivalRefused as refused:
            request.arrival_refused = str(refused)  # type: ignore[attr-defined]
            return None


def proxy_words(request: HttpRequest) -> list[str]:
    """The words for roles in the proxy's header, split at commas and semicolons."""
    header = settings.IRIS_PROXY.role_header
    text = request.META.get(header, "") if header else ""
    return [word.strip() for word in text.replace(";", ",").split(",") if word.strip()]
