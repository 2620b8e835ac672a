"""`/healthz`: this process answers. `/readyz`: the database answers and cycles run. Neither tells any data."""

import logging

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from iris_web import facts
from scaling import clock
from scaling.models import Cycle

logger = logging.getLogger(__name__)

# A cycle may be late by one period and skipped once before something is wrong.
PERIODS = 3

_was_ready = True


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """200 as long as the process can answer at all."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when the database answers and the last cycle is younger than three periods; else 503 with the reason."""
    try:
        reason = _why_not_ready()
    except (DatabaseError, InterfaceError):
        reason = "the database does not answer"
    _log_changes(reason)
    if not reason:
        return JsonResponse({"status": "ready"})
    answer = JsonResponse({"status": "not ready", "reason": reason}, status=503)
    # Django would log each of these as a failed request, and probes come every few seconds.
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


def _log_changes(reason: str) -> None:
    """Said once when this process stops or begins to be ready, whatever the age of the cycle meanwhile."""
    global _was_ready
    if bool(reason) is _was_ready:
        _was_ready = not reason
        logger.info("readiness changed", extra={"ready": _was_ready, "reason": reason})


def _why_not_ready() -> str:
    last = Cycle.objects.order_by("-id").values_list("started_at", flat=True).first()
    if last is None:
        return "no cycle has run yet"
    age_seconds = (clock.now() - last).total_seconds()
    allowed_seconds = PERIODS * cycle_period_seconds()
    if age_seconds < allowed_seconds:
        return ""
    return f"the last cycle began {age_seconds:.0f} s ago; expected less than {allowed_seconds:g} s"


def cycle_period_seconds() -> float:
    """The period in force: a cluster file may have set another than the settings."""
    return float(facts.stored_period_seconds() or settings.IRIS_CYCLE_SECONDS)
