"""Which pages may open the socket: ours by host and port, as a browser names them, and trusted ones."""

import pytest
from django.conf import LazySettings

from iris_web.live import origin


def is_own(page: str, host: str | None, **more: str) -> bool:
    headers = {"origin": page, "host": host, **{name.replace("_", "-"): value for name, value in more.items()}}
    return origin._is_own({"headers": [(k.encode(), v.encode()) for k, v in headers.items() if v is not None]})


@pytest.mark.parametrize(
    ("page", "host", "own"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("https://iris.example", "iris.example", True),
        ("https://iris.example", "iris.example:443", True),
        ("http://IRIS.example", "iris.example", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://127.0.0.1:8001", "127.0.0.1:8000", False),
        ("http://iris.example:8000", "iris.example", False),
        ("https://iris.example.evil", "iris.example", False),
        ("https://evil/iris.example", "iris.example", False),
        ("null", "iris.example", False),
        ("http://iris.example:port", "iris.example", False),
    ],
)
def test_a_page_is_ours_when_host_and_port_are_the_same(page: str, host: str, own: bool) -> None:
    assert is_own(page, host) is own


@pytest.mark.parametrize(
    ("page", "trusted"),
    [
        ("https://iris.example", True),
        ("https://a.ops.example", True),
        ("http://a.ops.example", False),
        ("https://ops.example.evil", False),
        ("https://iris.example:444", False),
    ],
)
def test_trusted_origins_are_those_of_forms(settings: LazySettings, page: str, trusted: bool) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://iris.example", "https://*.ops.example"]
    assert is_own(page, "10.0.0.1:8000") is trusted


def test_a_forwarded_host_counts_only_when_the_settings_say_so(settings: LazySettings) -> None:
    given = {"page": "https://iris.example", "host": "10.0.0.1:8000", "x_forwarded_host": "iris.example"}
    assert not is_own(**given)
    settings.USE_X_FORWARDED_HOST = True
    assert is_own(**given)
