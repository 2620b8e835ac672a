"""The published inputs: real cluster files, traces, cloud messages and cases, which live beside the project.

One that is absent skips the tests that need it; IRIS_REQUIRE_SERVICES=1 makes it a failure, as with a missing service.
"""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[3] / "shared"
DATA = Path(os.environ.get("IRIS_DATA") or _BESIDE / "data")
CASES = Path(os.environ.get("IRIS_CASES") or DATA.parent / "cases")


def published(path: Path) -> Path:
    """The path itself, which exists."""
    if not path.exists():
        absent = f"the published inputs are absent: no {path} (set IRIS_DATA, or IRIS_CASES, to their folder)"
        if os.environ.get("IRIS_REQUIRE_SERVICES") == "1":
            pytest.fail(absent, pytrace=False)
        pytest.skip(absent)
    return path
