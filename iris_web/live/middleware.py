"""Notes where the feed stands before a page reads anything, so that its live updates begin there and miss nothing."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from scaling import feed

_WITHOUT_PAGES = ("/static/", "/api/", "/admin/", "/healthz", "/readyz", "/metrics")


class LiveCursorMiddleware:
    """Sets `request.live_cursor` on every GET of a page; stands before all middleware that reads what pages show."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "GET" and not request.path.startswith(_WITHOUT_PAGES):
            request.live_cursor = str(feed.head())  # type: ignore[attr-defined]
        return self.get_response(request)
