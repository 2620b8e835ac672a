"""A signed-in browser on the live test stack, which watches for errors and violations of the policy."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.test import Client

from scaling import clock
from scaling.models import Group
from scaling.testing import builders
from tests.services.stack import LiveStack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

Visit = Callable[..., "Page"]
# The console says it too, but not of everything and not in one form.
TELL_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) => console.error(
    `policy violated: ${event.effectiveDirective} ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`))"""


@pytest.fixture
def now(live_stack: LiveStack) -> datetime:
    return clock.now()


@pytest.fixture
def people(live_stack: LiveStack) -> dict[str, AbstractUser]:
    return {role: builders.make_user(role, role) for role in ("viewer", "operator", "admin")}


@pytest.fixture
def group(live_stack: LiveStack, now: datetime) -> Group:
    """One evaluated group of a cluster whose last cycle was just now."""
    builders.make_installation()
    builders.make_cycle(now)
    builders.make_loop("autoscaler", now)
    made = builders.make_group("tpu-v5-8")
    builders.make_status(made, now)
    return made


def _is_trouble(message: "ConsoleMessage") -> bool:
    """An error, but not the browser's own note that a form was refused."""
    refused = any(f"status of {status}" in message.text for status in (409, 422))
    return message.type == "error" and not refused


@pytest.fixture
def visit(live_stack: LiveStack, people: dict[str, AbstractUser], chromium_browser: "Browser") -> Iterator[Visit]:
    """`visit("/groups/", "operator")` opens a page in a context of its own, signed in.

    At the end every page must have been free of errors: in its scripts, its requests and its policy.
    """
    contexts, troubles = [], []

    def open_page(path: str, role: str = "operator", **options: Any) -> "Page":
        context = chromium_browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        client = Client()
        client.force_login(people[role])
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_stack.url}])
        page = context.new_page()
        page.add_init_script(TELL_VIOLATIONS)
        page.on("console", lambda message: troubles.append(message.text) if _is_trouble(message) else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(live_stack.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def live(visit: Visit) -> Visit:
    """Like `visit`, and the page's websocket is open."""

    def open_page(path: str, role: str = "operator", **options: Any) -> "Page":
        page = visit(path, role, **options)
        page.wait_for_selector('html[data-live="on"]', state="attached", timeout=10_000)
        return page

    return open_page
