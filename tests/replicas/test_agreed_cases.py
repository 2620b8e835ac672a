"""The cases agreed with the users of the scaler."""

import importlib.util
from types import ModuleType
from typing import Any

import pytest
import yaml

from scaling.scenarios.replica_reading import parse_scenario
from scaling.scenarios.replica_report import report
from scaling.scenarios.replica_runner import run_scenario
from tests.services.inputs import CASES, published

FILE = CASES / "replicas_public.yaml"


def test_the_agreed_cases_are_there() -> None:
    assert len(yaml.safe_load(published(FILE).read_text())) > 50


def judge() -> ModuleType:
    """The checker that comes with the cases."""
    spec = importlib.util.spec_from_file_location("run_cases", CASES / "run_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("case", yaml.safe_load(FILE.read_text()) if FILE.is_file() else [], ids=lambda it: it["name"])
def test_an_agreed_case_holds(case: dict[str, Any]) -> None:
    printed = report(run_scenario(parse_scenario(case["scenario"])))
    assert judge().problems(printed, case["expect"]) == []
