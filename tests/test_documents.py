"""The documents name what the code has."""

import re
from pathlib import Path

from scaling.loops.registry import LOOPS

ROOT = Path(__file__).resolve().parents[1]
NAMES = "IRIS_[A-Z_]+|LYC_[A-Z_]+|DATABASE_URL|API_BASE_URL|DEPLOYMENT_SCALER_SERVICE_TOKEN"
VARIABLE = re.compile(rf"\b(?:{NAMES})\b")
# Told from one process of Iris to another, not by a person.
INTERNAL = {"IRIS_MARKS", "IRIS_CYCLE_SECONDS_GIVEN"}


def variables_read() -> set[str]:
    """What the product reads from the environment, by name."""
    found: set[str] = set()
    for package in ("scaling", "iris_web"):
        for path in (ROOT / package).rglob("*.py"):
            found |= set(re.findall(rf"""["']({NAMES})["']""", path.read_text()))
    return found - INTERNAL


def variables_in_the_table() -> set[str]:
    """What stands in the first column of the configuration's tables."""
    table = (ROOT / "docs" / "configuration.md").read_text()
    first_cells = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    return {name for cell in first_cells for name in re.findall(r"`([A-Z_]+)`", cell)}


def test_every_variable_is_in_the_table_of_the_configuration() -> None:
    assert variables_read() - variables_in_the_table() == set()


def test_the_table_has_no_variable_that_nothing_reads() -> None:
    documented = variables_in_the_table()
    of_tests = {"IRIS_DATA", "IRIS_CASES", "IRIS_REQUIRE_SERVICES"}
    assert documented - variables_read() == of_tests - variables_read()


def test_every_document_names_only_variables_that_exist() -> None:
    known = variables_read() | {"IRIS_DATA", "IRIS_CASES", "IRIS_REQUIRE_SERVICES"}
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        unknown = set(VARIABLE.findall(document.read_text())) - known
        assert not unknown, f"{document.name}: {unknown}"


def test_every_loop_is_described() -> None:
    table = (ROOT / "docs" / "configuration.md").read_text()
    assert set(LOOPS) <= set(re.findall(r"^\| `([a-z]+)`", table, re.MULTILINE))


def test_links_between_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_lock_files_pin_every_package_with_hashes_and_name_no_index() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert not re.search(r"^--|https?:|file:", text, re.MULTILINE)
        packages = re.split(r"\n(?=[a-zA-Z0-9])", text)[1:] or [text]
        assert all("==" in package and "--hash=sha256:" in package for package in packages)
