"""What someone is told who gave too many wrong passwords, and what the log is told of it."""

import logging
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from iris_web.login.clients import address_of, counted_address
from scaling import clock, lockouts

logger = logging.getLogger(__name__)


@receiver(user_login_failed)
def _log(sender: object, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:  # noqa: ARG001
    told = {"person": str(credentials.get("username", ""))[:150], "address": address_of(request) if request else ""}
    if getattr(request, "axes_locked_out", False):
        logger.warning("login throttled", extra=told)
    else:
        logger.info("login failed", extra=told)


@receiver(pre_save, sender=AccessAttempt)
def _keep_no_form(sender: object, instance: AccessAttempt, **_: Any) -> None:  # noqa: ARG001 - a signal's signature
    """A form that asked for a password holds others too, such as the new one; the count needs none of it."""
    instance.get_data = instance.post_data = ""


def locked_out(request: HttpRequest, *_: Any, **_more: Any) -> HttpResponse:
    """The page of a throttled login: a sentence with the moment from which the next attempt counts again."""
    seconds = _left_seconds(request)
    minutes = max(1, -(-seconds // 60))
    text = (
        f"Too many wrong passwords for this name from your address. "
        f"Try again in {minutes} minute{'s' if minutes != 1 else ''}, or ask an admin to unlock the name."
    )
    context = {"refused": text, "next": request.POST.get("next", ""), "oidc": settings.IRIS_OIDC}
    answer = render(request, "login.html", context, status=429)
    answer["Retry-After"] = str(seconds)
    return answer


def _left_seconds(request: HttpRequest) -> int:
    credentials = getattr(request, "axes_credentials", None) or {}
    username = credentials.get("username") or request.POST.get("username", "")
    now = clock.now()
    until = lockouts.locked_until(username, counted_address(request), now) or now
    return max(1, int((until - now).total_seconds()))
