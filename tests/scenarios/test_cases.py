"""Rule by rule what the group autoscaler decides: every case of `cases/`, through `plan_cluster`.

A case has a `name`, its `rule` (a section of AUTOSCALER and its words), a `scenario` as files have them, and what it
expects (see expectations.py).
"""

import json
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from tests.scenarios.expectations import unmet

FOLDER = Path(__file__).parent / "cases"
FILES = sorted(FOLDER.glob("*.yaml"))


@cache
def cases(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, list[dict[str, Any]]]:
    """What the command prints for each file of cases, one output per case."""
    found = {}
    for file in FILES:
        scenarios = tmp_path_factory.mktemp("scenarios") / file.name
        documents = [case["scenario"] for case in cases(file)]
        scenarios.write_text(yaml.safe_dump_all(documents, sort_keys=False, explicit_start=True), encoding="utf-8")
        printed = StringIO()
        call_command("plan_cluster", str(scenarios), "--json", stdout=printed)
        found[file] = [json.loads(line) for line in printed.getvalue().splitlines()]
    return found


@pytest.mark.parametrize(
    ("file", "number"),
    [pytest.param(file, number, id=case["name"]) for file in FILES for number, case in enumerate(cases(file))],
)
def test_the_rule_holds(file: Path, number: int, outputs: dict[Path, list[dict[str, Any]]]) -> None:
    assert unmet(outputs[file][number], cases(file)[number]["expect"]) == []


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case["name"] for file in FILES for case in cases(file)]

    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "check",
    [
        ["a.0.b", "==", 2],
        ["a.0.b", "==", True],
        ["a.1", "!=", {"b": None}],
        ["a.*.b", "==", 1],
        ["a.2:.b", "==", 1],
        ["a", "any", {"b": 2}],
        ["a", "none", {"b": 1}],
        ["a", "all", {"c": 1}],
        ["a", "len==", 1],
        ["c", "contains", "z"],
        ["a.0.b", "missing"],
        ["a.0.b", "<", 1],
    ],
)
def test_a_check_that_does_not_hold_is_told(check: list[Any]) -> None:
    assert len(unmet({"a": [{"b": 1}, {"b": None}], "c": "xy"}, [check])) == 1
