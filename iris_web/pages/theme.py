"""Light, dark or the system's colours: kept in a cookie, so the first byte of a page has them and nothing flashes."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

COOKIE = "iris_theme"
THEMES = ("light", "dark", "system")
_YEAR_SECONDS = 365 * 86_400


def chosen(request: HttpRequest) -> str:
    theme = request.COOKIES.get(COOKIE, "")
    return theme if theme in THEMES else "system"


def template_context(request: HttpRequest) -> dict[str, Any]:
    return {"theme": chosen(request)}


def local_path(request: HttpRequest, path: str, default: str = "/") -> str:
    """`path` where it stays on this site, else the default: a form never sends anyone elsewhere."""
    safe = url_has_allowed_host_and_scheme(path, allowed_hosts=None, require_https=request.is_secure())
    return path if safe and path.startswith("/") else default


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Keep the chosen theme and go back to the page it was chosen on."""
    response = HttpResponseRedirect(local_path(request, request.POST.get("next", "/")))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(COOKIE, theme, max_age=_YEAR_SECONDS, samesite="Lax", secure=request.is_secure())
    return response
