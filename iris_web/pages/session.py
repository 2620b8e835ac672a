"""Signing in and out, showing again who one is, and one's own password."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, password_validation, update_session_auth_hash
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import urlencode

from iris_web.access import UNSENT, Act, require
from iris_web.login.fresh import confirm
from iris_web.pages.theme import local_path
from scaling import people
from scaling.history import Actor

UNSENT_SECONDS = 600
WRONG_PASSWORD = "That is not your password."  # noqa: S105 - a sentence


class SignIn(LoginView):
    """The login page; someone already signed in goes on."""

    template_name = "login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, oidc=settings.IRIS_OIDC, unsent=_was_unsent(self.request))


def _was_unsent(request: HttpRequest) -> bool:
    """Whether a form that was sent without a session led here, a moment ago."""
    try:
        signing.loads(request.GET.get("unsent", ""), salt=UNSENT, max_age=UNSENT_SECONDS)
    except signing.BadSignature:
        return False
    return True


class SignOut(LogoutView):
    """Ends the session (POST only)."""


def admin_sign_in(request: HttpRequest) -> HttpResponseRedirect:
    """One login page for the whole site: the admin's own leads here."""
    return redirect(f"/login/?{urlencode({'next': request.GET.get('next', '/admin/')})}")


def confirm_again(request: HttpRequest) -> HttpResponse:
    """Asks a person to show again who they are, before people or tokens are changed."""
    require(request, Act.VIEW)
    person = _person(request)
    target = local_path(request, request.POST.get("next") or request.GET.get("next", "/"))
    wrong = ""
    if request.method == "POST":
        if _knows_password(request, request.POST.get("password", "")):
            confirm(request)
            return HttpResponseRedirect(target)
        wrong = WRONG_PASSWORD
    oidc = settings.IRIS_OIDC
    context = {
        "next": target,
        "wrong": wrong,
        "minutes": settings.IRIS_CONFIRM_MINUTES,
        "has_password": person.has_usable_password(),
        "provider": oidc if oidc.enabled and person.identities.filter(issuer=oidc.issuer).exists() else None,
    }
    return render(request, "confirm.html", context, status=422 if wrong else 200)


def own_password(request: HttpRequest) -> HttpResponse:
    """Changes one's own password; every other session of that person ends with it."""
    require(request, Act.VIEW)
    person = _person(request)
    wrong: dict[str, str] = {}
    if request.method == "POST" and person.has_usable_password():
        wrong = _faults(request, person)
        if not wrong:
            people.save_person(Actor.user(person.username), person, people.role_name(person), request.POST["new"])
            update_session_auth_hash(request, person)
            confirm(request)
            messages.success(request, "Your password is changed. You are signed out everywhere else.")
            return HttpResponseRedirect("/")
    context = {"wrong": wrong, "has_password": person.has_usable_password()}
    return render(request, "password.html", context, status=422 if wrong else 200)


def _faults(request: HttpRequest, person: User) -> dict[str, str]:
    """What is wrong with the form, by field."""
    new = request.POST.get("new", "")
    if not _knows_password(request, request.POST.get("password", "")):
        return {"password": WRONG_PASSWORD}
    if new != request.POST.get("again", ""):
        return {"again": "The two are not the same."}
    try:
        password_validation.validate_password(new, person)
    except ValidationError as weak:
        return {"new": " ".join(weak.messages)}
    return {}


def _knows_password(request: HttpRequest, password: str) -> bool:
    """Asked as a login is, so that guessing is slowed down here too."""
    found = authenticate(request, username=request.user.get_username(), password=password)
    return found is not None and found.pk == request.user.pk


def _person(request: HttpRequest) -> User:
    return User.objects.get(username=request.user.get_username())
