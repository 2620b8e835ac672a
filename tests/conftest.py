"""What every test may use: a temporary data folder, a clock that stands still, a database that can be flushed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from scaling import clock
from scaling.append_only import drop_triggers, install_triggers
from scaling.clock import FrozenClock

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
