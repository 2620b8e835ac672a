"""Fixtures for the services: started once per run, when the first test asks for them.

A missing program skips the tests that need it and is named at the end; IRIS_REQUIRE_SERVICES=1 makes it a failure.
"""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, TypeVar

import psycopg
import pytest

from tests.services.chromium import chromium
from tests.services.postgres import postgres
from tests.services.programs import MissingProgramError
from tests.services.prometheus import prometheus
from tests.services.redis import redis

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

T = TypeVar("T")

MISSING = pytest.StashKey[dict[str, int]]()


def _start(request: pytest.FixtureRequest, name: str, service: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
    with ExitStack() as stack:
        try:
            started = stack.enter_context(service())
        except MissingProgramError as missing:
            refuse(request, f"{name} (program {missing})")
        yield started


def refuse(request: pytest.FixtureRequest, what: str) -> None:
    missing = request.config.stash.setdefault(MISSING, {})
    missing[what] = missing.get(what, 0) + 1
    if os.environ.get("IRIS_REQUIRE_SERVICES") == "1":
        pytest.fail(f"missing service: {what}", pytrace=False)
    pytest.skip(f"missing service: {what}")


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a PostgreSQL server's database `iris`; the runner's own server when it started one."""
    running = os.environ.get("IRIS_TEST_POSTGRES", "")
    if running:
        yield running
    else:
        yield from _start(request, "PostgreSQL", postgres)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of this test's own."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{postgres_server.rsplit('/', 1)[0]}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from _start(request, "Redis", redis)


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of a Redis server, emptied for this test."""
    from redis import Redis

    with Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture
def prometheus_url(request: pytest.FixtureRequest) -> Iterator[Callable[..., str]]:
    """Call it with the `host:port` targets to scrape; returns the URL of a server that does."""
    with ExitStack() as stack:

        def start(*targets: str) -> str:
            try:
                return stack.enter_context(prometheus(targets))
            except MissingProgramError as missing:
                refuse(request, f"Prometheus (program {missing})")
                raise

        yield start


@pytest.fixture(scope="session")
def chromium_browser(request: pytest.FixtureRequest) -> Iterator["Browser"]:
    # The driver keeps an event loop in this thread; Django then refuses the plain use of its models beside it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield from _start(request, "Chromium", chromium)


@pytest.fixture
def chromium_page(chromium_browser: "Browser") -> Iterator["Page"]:
    """A page in a fresh context (no cookies), 1280 × 800."""
    context = chromium_browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        yield context.new_page()
    finally:
        context.close()
