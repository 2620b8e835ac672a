"""Fragments of the tests' own, and sockets to a real server."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User

from iris_web.live import hub as hub_module
from tests.live import pages
from tests.live.client import LiveClient, cookie_of, opened
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
