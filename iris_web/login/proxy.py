"""A trusted proxy's word on who is there: its headers count from its addresses alone, and from nowhere else."""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.middleware import RemoteUserMiddleware
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from iris_web.login.backends import proxy_words

logger = logging.getLogger(__name__)
_WORDS = "iris_proxy_words"


class ProxyUserMiddleware(RemoteUserMiddleware):
    """Django's own, with the header of the settings. A session that the proxy made ends when its header is gone."""

    async_capable = False  # type: ignore[assignment]

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)

    @property
    def header(self) -> str:  # type: ignore[override]
        return str(settings.IRIS_PROXY.user_header)

    def process_request(self, request: HttpRequest) -> None:
        proxy = settings.IRIS_PROXY
        if not proxy.enabled:
            return
        if not proxy.is_trusted(request.META.get("REMOTE_ADDR", "")):
            self._forget_headers(request)
        name = request.META.get(self.header, "").strip()
        if not name:
            request.META.pop(self.header, None)
        elif request.session.get(_WORDS) != proxy_words(request) and request.user.is_authenticated:
            # Another role, or the first time that a session of another kind comes this way: looked at anew.
            self._come_anew(request, name)
        super().process_request(request)
        if getattr(request, "arrival_refused", ""):
            raise PermissionDenied(request.arrival_refused)  # type: ignore[attr-defined]
        if name and request.user.is_authenticated and request.session.get(_WORDS) != proxy_words(request):
            request.session[_WORDS] = proxy_words(request)

    def _come_anew(self, request: HttpRequest, name: str) -> None:
        user = auth.authenticate(request, remote_user=name)
        if user is not None and user.pk == request.user.pk:
            request.user = user
            request.session[_WORDS] = proxy_words(request)

    @staticmethod
    def _forget_headers(request: HttpRequest) -> None:
        proxy = settings.IRIS_PROXY
        for header in (proxy.user_header, proxy.role_header, proxy.time_header):
            if header and request.META.pop(header, None) is not None:
                logger.warning("proxy header of a stranger ignored", extra={"address": request.META.get("REMOTE_ADDR")})
