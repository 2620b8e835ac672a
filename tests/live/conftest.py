"""Fragments of the tests' own, sockets to a real server, and a page of a browser on it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from iris_web.live import hub as hub_module
from tests.live import pages
from tests.live.client import LiveClient, cookie_of, opened
from tests.live.live_page import RECORD
from tests.live.proxy import CUT, Wire
from tests.services.stack import LiveStack

Open = Callable[..., AbstractContextManager[LiveClient]]


TEMPLATES = Path(__file__).parent / "templates"


@pytest.fixture(autouse=True)
def quick_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "TICK_SECONDS", 0.3)


@pytest.fixture(autouse=True)
def test_templates(settings: LazySettings) -> None:
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], TEMPLATES]}]


@pytest.fixture
def counts() -> Iterator[pages.Counts]:
    """How often each fragment of the tests was rendered, and switches to make one fail."""
    pages.COUNTS.reset()
    yield pages.COUNTS
    pages.COUNTS.reset()


@pytest.fixture
def page(live_stack: LiveStack, people: dict[str, User], counts: pages.Counts) -> Open:
    """`with page() as client:` is a socket of a signed-in viewer; `page("operator")` of another role."""

    def open_as(role: str = "viewer", **options: object) -> AbstractContextManager[LiveClient]:
        return opened(live_stack.url, cookie_of(people[role]), **options)  # type: ignore[arg-type]

    return open_as


@pytest.fixture
def wire(live_stack: LiveStack) -> Iterator[Wire]:
    made = Wire(urlsplit(live_stack.url).port or 0)
    yield made
    made.close()


@pytest.fixture
def at(
    chromium_page: Page, wire: Wire, people: dict[str, User], counts: pages.Counts, settings: LazySettings
) -> Iterator[Page]:
    """The tests' page, signed in and live; at the end the console must be clean."""
    settings.ROOT_URLCONF = "tests.live.urls"
    complaints: list[str] = []
    chromium_page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    chromium_page.on("pageerror", lambda error: complaints.append(str(error)))
    name, _, value = cookie_of(people["operator"]).partition("=")
    chromium_page.context.add_cookies([{"name": name, "value": value, "url": wire.url}])
    chromium_page.add_init_script(RECORD)
    chromium_page.goto(f"{wire.url}/test/")
    expect(chromium_page.locator("html")).to_have_attribute("data-live", "on")
    yield chromium_page
    assert [text for text in complaints if not CUT.search(text)] == []
