"""The headers of every answer there is, from the real server: pages, errors, files, API, and what no view sees."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
import pytest
from django.contrib.auth.models import User
from websockets.exceptions import InvalidStatus

from iris_web.security import CONTENT_SECURITY_POLICY
from tests.live.client import cookie_of, opened
from tests.services.stack import LiveStack

pytestmark = pytest.mark.one_database

# method, path, headers, body, status
ANSWERS: list[tuple[str, str, dict[str, str], bytes, int]] = [
    ("GET", "/login/", {}, b"", 200),
    ("GET", "/groups/", {}, b"", 302),
    ("GET", "/nowhere.txt", {}, b"", 302),
    ("POST", "/login/", {}, b"", 403),
    ("PUT", "/theme/", {}, b"", 403),
    ("GET", "/admin/", {}, b"", 302),
    ("GET", "/healthz", {}, b"", 200),
    ("GET", "/static/css/tokens.css", {}, b"", 200),
    ("GET", "/static/nothing.css", {}, b"", 404),
    ("GET", "/api/v1/docs", {}, b"", 200),
    ("GET", "/api/v1/openapi.json", {}, b"", 200),
    ("GET", "/api/v1/groups", {}, b"", 401),
    ("GET", "/api/v1/nothing", {}, b"", 404),
    ("DELETE", "/api/v1/groups", {}, b"", 405),
    ("PUT", "/api/v1/demand/x", {}, b"x" * 70_000, 401),
    ("POST", "/login/", {}, b"x" * 1_100_000, 413),
    ("POST", "/api/v1/halt", {}, b"x" * 1_100_000, 413),
    ("GET", "/login/", {"Host": "evil.example"}, b"", 400),
]


def assert_guarded(headers: Mapping[str, str], path: str) -> None:
    assert headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY, path
    assert headers["X-Content-Type-Options"] == "nosniff", path
    assert headers["X-Frame-Options"] == "DENY" and headers["Referrer-Policy"] == "same-origin", path
    assert "camera=()" in headers["Permissions-Policy"], path
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
    if not path.startswith("/static/"):
        assert "no-store" in headers["Cache-Control"] or "no-cache" in headers["Cache-Control"], path


def test_every_answer_carries_the_headers(live_stack: LiveStack) -> None:
    with httpx.Client(base_url=live_stack.url, timeout=30) as client:
        for method, path, headers, body, status in ANSWERS:
            answer = client.request(method, path, headers=headers, content=body)
            assert answer.status_code == status, (method, path)
            assert_guarded(answer.headers, path)


def test_a_refused_socket_carries_them_too(live_stack: LiveStack, people: dict[str, User]) -> None:
    cookie = cookie_of(people["viewer"])
    for options in ({"origin": "https://evil.example"}, {"path": "/ws/other"}):
        with pytest.raises(InvalidStatus) as refused, opened(live_stack.url, cookie, **options):  # type: ignore[arg-type]
            pass
        assert refused.value.response.status_code == 403
        assert_guarded(refused.value.response.headers, urlsplit(live_stack.url).path)
