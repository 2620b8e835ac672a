"""What every test may use: a temporary data folder, a clock that stands still, a database that can be flushed."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.management import CommandError
from django.db import OperationalError, connection
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from scaling import clock
from scaling.append_only import guard, unguard
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

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "django_db_serialized_rollback"}
PASSWORD = "correct horse battery"

STATE_DIR = Path(tempfile.mkdtemp(prefix="iris-test-"))
STATE_DIR.chmod(0o755)
os.environ["IRIS_STATE_DIR"] = str(STATE_DIR)
settings.STATE_DIR = STATE_DIR
settings.STATIC_ROOT = STATE_DIR / "static"
settings.STATIC_ROOT.mkdir()
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, not memory: several connections then behave as they do in use. Several parts of the tests go beside each other
# on one PostgreSQL server (see tests/run.py): each has a database of its own.
settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = (
    str(STATE_DIR / "test.sqlite3") if connection.vendor == "sqlite" else f"test_iris_{os.getpid()}"
)

hypothesis_settings.register_profile(
    "ci",
    max_examples=50,
    derandomize=True,
    deadline=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("ci")


def pytest_unconfigure() -> None:
    shutil.rmtree(STATE_DIR, ignore_errors=True)


_flush = TransactionTestCase._fixture_teardown


def _flush_without_the_guard(case: TransactionTestCase) -> None:
    """A transactional test ends with a flush, which the append-only triggers refuse: off before, on again after.

    A live server that still reads can be in its way; of two that wait for each other PostgreSQL ends one.
    """
    for last in (False, False, True):
        try:
            with _unguarded():
                _flush(case)
        except (CommandError, OperationalError):
            if last:
                raise
        else:
            break


@contextmanager
def _unguarded() -> Iterator[None]:
    unguard(connection)
    try:
        yield
    finally:
        guard(connection)


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


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The test database; at the end nobody else may hold on to it or come back, or PostgreSQL would not drop it."""
    yield
    if connection.vendor == "postgresql":
        name = connection.settings_dict["NAME"]
        with django_db_blocker.unblock(), connection.creation._nodb_cursor() as cursor:
            cursor.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the runs of `make test`, keep what belongs to each (see tests/run.py); else everything.

    A test marked `postgres` that uses the test database runs there only. Tests with a browser come last: its driver
    keeps an event loop in this thread from then on, beside which no other can run.
    """
    if plan := os.environ.get("IRIS_TEST_PLAN"):
        Path(plan).write_text(json.dumps(_plan(items)))
    database, part = os.environ.get("IRIS_TEST_DATABASE", ""), os.environ.get("IRIS_TEST_PART", "")
    kept = {
        item for item in items if _is_of_database(item, database, connection.vendor) and part in ("", _part_of(item))
    }
    left_out = [item for item in items if item not in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in kept]
    items.sort(key=lambda item: "chromium_browser" in getattr(item, "fixturenames", ()))


def _plan(items: list[pytest.Item]) -> dict[str, dict[str, dict[str, int]]]:
    """How many tests each file has, by database and part."""
    plan: dict[str, dict[str, dict[str, int]]] = {}
    for database in ("SQLite", "PostgreSQL"):
        for item in items:
            if _is_of_database(item, database, database.lower()):
                files = plan.setdefault(database, {}).setdefault(_part_of(item), {})
                path = item.path.relative_to(item.config.rootpath).as_posix()
                files[path] = files.get(path, 0) + 1
    return plan


def _is_of_database(item: pytest.Item, database: str, vendor: str) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    uses_database = item.get_closest_marker("django_db") is not None or bool(fixtures & DATABASE_FIXTURES)
    again_on_postgres = database == "PostgreSQL"
    if item.get_closest_marker("postgres"):
        return vendor == "postgresql" if uses_database else not again_on_postgres
    if item.get_closest_marker("one_database"):
        return not again_on_postgres
    return not again_on_postgres or (uses_database and "chromium_browser" not in fixtures)


def _part_of(item: pytest.Item) -> str:
    for name in ("long", "processes"):
        if item.get_closest_marker(name) is not None:
            return name
    return "browser" if "chromium_browser" in getattr(item, "fixturenames", ()) else "others"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell `make test` how many tests passed, failed and were skipped in this run, and what failed in a line each."""
    path = os.environ.get("IRIS_TEST_COUNTS")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if path and reporter:
        stats = reporter.stats
        failed = [_in_a_line(report) for outcome in ("failed", "error") for report in stats.get(outcome, ())]
        counts = {outcome: len(stats.get(outcome, ())) for outcome in ("passed", "skipped")} | {"failed": len(failed)}
        Path(path).write_text(json.dumps({"counts": counts, "failures": failed}))


def _in_a_line(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Which test, in which phase if not in the test itself, and the beginning of why."""
    phase = "" if report.when in ("call", "collect") else f" ({report.when})"
    crash = getattr(report.longrepr, "reprcrash", None)
    return f"{report.nodeid}{phase} - {' '.join(str(crash.message if crash else report.longrepr).split())[:300]}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was not on this machine, and how many tests that cost."""
    for what, tests in terminalreporter.config.stash.get(MISSING, {}).items():
        terminalreporter.write_line(f"missing: {what}: {tests} tests could not run")
