"""Error pages: one sentence on what happened and what to do next; never a stack trace."""

from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from iris_web.access import role_of
from iris_web.pages.shell import Shell
from iris_web.pages.theme import chosen
from scaling.characters import harmless


@dataclass(frozen=True, slots=True)
class ErrorText:
    status: int
    title: str
    text: str


BAD_REQUEST = ErrorText(400, "That request cannot be read", "Go back, reload the page and try again.")
FORBIDDEN = ErrorText(403, "Your role may not do this", "An admin can give you another role.")
NO_ROLE = ErrorText(
    403, "You have no role yet", "You are signed in and may see nothing. Ask an admin to make you a viewer or more."
)
EXPIRED = ErrorText(403, "This page is too old to be sent", "Go back, reload it and send it again. Nothing was done.")
NOT_FOUND = ErrorText(404, "There is nothing at this address", "It may have ended, or the address has a slip.")
FAILED = ErrorText(
    500, "Something went wrong here", "Nothing of your request was kept. The log says what happened, at this time."
)


def _show(request: HttpRequest, error: ErrorText, detail: str = "") -> HttpResponse:
    """The page inside its shell for whoever has a role, else alone; the shell is without what it counts.

    Where the database is what failed, the page stands alone.
    """
    known = _known(request)
    context = {"error": error, "detail": detail, "theme": chosen(request), "known": known is not None, "plain": True}
    try:
        inside = known is not None and role_of(known) is not None
        layout = {"layout": "app.html", "shell": Shell(), "nav": ""} if inside else {"layout": "base.html"}
        return render(request, "error.html", {**context, **layout}, status=error.status)
    except DatabaseError:
        return HttpResponse(render_to_string("error.html", {**context, "layout": "base.html"}), status=error.status)


def _known(request: HttpRequest) -> Any:
    """The signed-in user as far as this request has loaded one."""
    user = getattr(request, "_cached_user", None)
    return user if user is not None and user.is_authenticated else None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _show(request, BAD_REQUEST)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.user.is_authenticated and role_of(request.user) is None:
        return _show(request, NO_ROLE)
    return _show(request, FORBIDDEN, str(exception))


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _show(request, EXPIRED)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    told = exception.args[0] if isinstance(exception, Http404) and exception.args else ""
    return _show(request, NOT_FOUND, harmless(told) if isinstance(told, str) else "")


def failed(request: HttpRequest) -> HttpResponse:
    return _show(request, FAILED)
