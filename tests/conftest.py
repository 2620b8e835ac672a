"""What every test may use: a temporary data folder, a clock that stands still, a database that can be flushed."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from scaling import clock
from scaling.append_only import drop_triggers, install_triggers
from scaling.clock import FrozenClock
from scaling.history import Actor
from tests.services.fixtures import (  # noqa: F401 - fixtures are found by their names here
    MISSING,
    chromium_browser,
    chromium_page,
    postgres_server,
    postgres_url,
    prometheus_url,
    redis_server,
    redis_url,
)
from tests.services.stack import live_server_thread, live_stack  # noqa: F401

PASSWORD = "correct horse battery"

STATE_DIR = Path(tempfile.mkdtemp(prefix="iris-test-"))
STATE_DIR.chmod(0o755)
os.environ["IRIS_STATE_DIR"] = str(STATE_DIR)
settings.STATE_DIR = STATE_DIR
settings.STATIC_ROOT = STATE_DIR / "static"
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, not memory: several connections then behave as they do in use.
if connection.vendor == "sqlite":
    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = str(STATE_DIR / "test.sqlite3")

hypothesis_settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=False, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("ci")


def pytest_unconfigure() -> None:
    shutil.rmtree(STATE_DIR, ignore_errors=True)


_flush = TransactionTestCase._fixture_teardown


def _flush_without_the_guard(case: TransactionTestCase) -> None:
    """A transactional test ends with a flush, which the append-only trigger refuses: off before, on again after."""
    drop_triggers(connection, "scaling_action")
    try:
        _flush(case)
    finally:
        install_triggers(connection, "scaling_action")


TransactionTestCase._fixture_teardown = _flush_without_the_guard


@pytest.fixture
def frozen_clock() -> Iterator[FrozenClock]:
    """`scaling.clock.now()` stands at 2026-01-01 12:00 UTC; `.advance(seconds)` and `.set(datetime)` move it."""
    with clock.frozen(datetime(2026, 1, 1, 12, tzinfo=UTC)) as frozen:
        yield frozen


@pytest.fixture
def actor() -> Actor:
    """A person on a page, for acts whose author does not matter."""
    return Actor.user("ada")


@pytest.fixture
def people(db: None) -> dict[str, User]:
    """One user per role, named and grouped like it: viewer, operator, admin; and `outsider`, who has none."""
    made = {}
    for name in ("viewer", "operator", "admin", "outsider"):
        made[name] = User.objects.create_user(name, password=PASSWORD)
        if name != "outsider":
            made[name].groups.add(Group.objects.get_or_create(name=name)[0])
    return made


@pytest.fixture
def sign_in(people: dict[str, User]) -> Callable[[str], Client]:
    """`sign_in("operator")` is a test client that has signed in with that role."""

    def signed_in(role: str) -> Client:
        client = Client()
        client.force_login(people[role])
        return client

    return signed_in


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was not on this machine, and how many tests that cost."""
    for what, tests in terminalreporter.config.stash.get(MISSING, {}).items():
        terminalreporter.write_line(f"missing: {what}: {tests} tests could not run")
