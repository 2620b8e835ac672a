"""Signing in by the OIDC provider: there and back."""

import logging

from django.conf import settings
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from iris_web.login import provider
from iris_web.login.arrivals import ArrivalRefused, person_of
from iris_web.login.fresh import confirm, is_fresh
from iris_web.login.provider import Proved, ProviderFailed
from iris_web.pages.theme import local_path

logger = logging.getLogger(__name__)
BACKEND = "iris_web.login.backends.ProviderBackend"
_WAY = "iris_provider_way"
# For the way to the provider and back, its own login included.
WAY_SECONDS = 600


@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Off to the provider. `again`: the person is signed in and only shows anew who they are."""
    _check_enabled()
    again = request.user.is_authenticated and "again" in request.GET
    callback = request.build_absolute_uri(reverse("provider-callback"))
    try:
        away = provider.begin(request, callback, again=again)
    except ProviderFailed as failed:
        return _refused(request, failed, 503)
    request.session[_WAY] = {"next": local_path(request, request.GET.get("next", "/")), "again": again}
    if not request.user.is_authenticated:
        # Anybody can make such a session; a login makes it last as long as any.
        request.session.set_expiry(WAY_SECONDS)
    return away


@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Back from the provider, with a code that is worth nothing before every check of what it buys."""
    _check_enabled()
    way = request.session.pop(_WAY, None) or {"next": "/", "again": False}
    try:
        proved = provider.finish(request)
        _enter(request, proved, again=way["again"])
    except (ProviderFailed, ArrivalRefused) as refused:
        return _refused(request, refused, 403)
    return HttpResponseRedirect(way["next"])


def _enter(request: HttpRequest, proved: Proved, *, again: bool) -> None:
    user = person_of(proved.arrival, settings.IRIS_OIDC.rule)
    if not again:
        login(request, user, backend=BACKEND)
        confirm(request, proved.authenticated_at or 0)
        return
    if user.pk != request.user.pk:
        raise ArrivalRefused(f"You came back as {user.username}. Sign out first to go on under that name.")
    confirm(request, proved.authenticated_at or 0)
    if not is_fresh(request):
        raise ProviderFailed("The sign-in service did not ask you again who you are, so nothing is confirmed.")


def _check_enabled() -> None:
    if not settings.IRIS_OIDC.enabled:
        raise Http404("Nobody signs in this way here.")


def _refused(request: HttpRequest, refused: Exception, status: int) -> HttpResponse:
    reason: BaseException = refused
    while reason.__cause__ is not None:
        reason = reason.__cause__
    logger.warning("sign-in by provider failed", extra={"reason": f"{type(reason).__name__}: {reason}"[:300]})
    context = {"refused": str(refused), "next": "", "oidc": settings.IRIS_OIDC}
    return render(request, "login.html", context, status=status)
