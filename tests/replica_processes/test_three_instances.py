"""Three instances as real processes share forty deployments of a fleet, and are killed under load."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 300


@cache
def run_of(database: str) -> dict[str, Any]:
    """What one run saw, by the names of `benchmarks.replica_instances.Found`; the tests look at one each."""
    command = [sys.executable, "-m", "benchmarks.replica_instances", "--short", "--json", "--kills", "1"]
    ended = subprocess.run(
        [*command, "--database", database], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_SECONDS
    )
    assert ended.returncode in (0, 1) and ended.stdout, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def found(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "postgres":
        # Skips, and says so, where there is no server on this machine.
        request.getfixturevalue("postgres_server")
    return run_of(request.param)


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
