"""`/metrics` in Prometheus' text format, and who may read it.

With `IRIS_METRICS_TOKEN` set, whoever presents it as a bearer token; without it, only this machine, and in production
nobody: there a proxy on this machine makes every client seem to be on it, and not every proxy says that it is one. An
API token with the role viewer or more always does.
"""

import hmac
import threading
import time
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from iris_web.access import Act
from iris_web.api.callers import Need, authenticate
from iris_web.api.problems import Problem, unauthorized
from iris_web.exposition import CONTENT_TYPE, exposed
from iris_web.metric_facts import families
from scaling import clock
from scaling.autoscaler.collector import CollectorAtRest

# What proxies add: any of these tells that the client is another one than it seems.
_FORWARDED = (
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server", "X-Real-Ip",
    "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
)  # fmt: skip


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    try:
        _check(request)
        return HttpResponse(_KEPT.text(), content_type=CONTENT_TYPE)
    except Problem as refused:
        return refused.response()


class Kept:
    """The text for the next moments: several Prometheus servers that ask at once are told the same, counted once.

    Who waited too long for another to count is refused (Problem 503): a database that answers nobody must not gather
    a thread for each scrape.
    """

    SECONDS = 2.0
    WAIT_SECONDS = 10.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._text = ""

    def text(self) -> str:
        if not self._lock.acquire(timeout=self.WAIT_SECONDS):
            raise Problem(
                503, f"the metrics are still being counted for another, since {self.WAIT_SECONDS:g} s or more"
            )
        try:
            if time.monotonic() >= self._until:
                with CollectorAtRest():
                    self._text = exposed(families(clock.now()))
                self._until = time.monotonic() + self.SECONDS
            return self._text
        finally:
            self._lock.release()


_KEPT = Kept()


def _check(request: HttpRequest) -> None:
    """Raises Problem 401 or 403."""
    expected: str = settings.IRIS_METRICS_TOKEN
    presented = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    if presented and expected and hmac.compare_digest(presented.encode(), expected.encode()):
        return
    if presented:
        Need(Act.VIEW).check(authenticate(request))
    elif expected:
        raise unauthorized('expected the header "Authorization: Bearer <IRIS_METRICS_TOKEN>"', presented=False)
    elif settings.PRODUCTION:
        raise unauthorized(
            "in production metrics are told to bearers of IRIS_METRICS_TOKEN, once it is set, or of an API token",
            presented=False,
        )
    elif not is_local(request):
        raise Problem(403, "metrics are told to this machine only unless IRIS_METRICS_TOKEN is set")


def is_local(request: HttpRequest) -> bool:
    """Whether the client itself is on this machine: behind a proxy on it, every client would seem to be."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
