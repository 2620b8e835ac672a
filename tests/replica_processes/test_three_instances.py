"""Three instances as real processes share forty deployments of a fleet, and are killed under load."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 300


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What one run on SQLite saw, by the names of `benchmarks.replica_instances.Found`; the tests look at one each.

    `benchmarks.replica_instances` itself has PostgreSQL and the full times.
    """
    command = [sys.executable, "-m", "benchmarks.replica_instances", "--short", "--json", "--kills", "1"]
    ended = subprocess.run(
        [*command, "--database", "sqlite"], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_SECONDS
    )
    assert ended.returncode in (0, 1) and ended.stdout, ended.stderr
    seen: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return seen


def test_each_deployment_has_exactly_one_scaler_at_any_moment(found: dict[str, Any]) -> None:
    assert found["looks"] > 100
    assert found["not_one_scaler"] == []


def test_a_killed_instances_deployments_are_taken_over_and_ticked_in_time(found: dict[str, Any]) -> None:
    assert found["moved"][0] >= 5
    assert found["too_late"] == []


def test_no_call_buys_what_was_bought(found: dict[str, Any]) -> None:
    assert found["calls"] >= 40
    assert found["double_calls"] == []


def test_cooldowns_and_windows_are_kept(found: dict[str, Any]) -> None:
    assert found["broken_cooldowns"] == []
    assert found["forgotten"] == []


def test_what_is_beyond_all_limits_is_unassigned(found: dict[str, Any]) -> None:
    assert found["unassigned"] == 15


def test_nothing_was_logged_as_an_error(found: dict[str, Any]) -> None:
    assert found["errors"] == []
