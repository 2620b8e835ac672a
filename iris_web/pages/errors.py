"""Error pages: one sentence on what happened and what to do next; never a stack trace."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from iris_web.access import role_of
from iris_web.pages.theme import chosen


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
    """A page that reads nothing from the database, so that it works when that is what failed."""
    context = {"error": error, "detail": detail, "theme": chosen(request)}
    return render(request, "error.html", context, status=error.status)


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
    return _show(request, NOT_FOUND, told if isinstance(told, str) else "")


def failed(request: HttpRequest) -> HttpResponse:
    return _show(request, FAILED)
