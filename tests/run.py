"""`make test`: the same tests on SQLite and on PostgreSQL, and what was missing on this machine at the end.

Arguments go to pytest. The second run leaves out what the database makes no difference to.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.services.postgres import postgres
from tests.services.programs import MissingProgramError

ROOT = Path(__file__).resolve().parents[1]
NO_TESTS_COLLECTED = 5


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(name: str, arguments: list[str], environment: dict[str, str]) -> tuple[int, Counter[str]]:
    """One run of pytest: its exit code and how many tests passed, failed, were skipped."""
    say(f"\n{name}:")
    with tempfile.NamedTemporaryFile(suffix=".json") as counts:
        command = [sys.executable, "-m", "pytest", *arguments]
        added = {"IRIS_TEST_RUN": name, "IRIS_TEST_COUNTS": counts.name, **environment}
        code = subprocess.run(command, cwd=ROOT, env=os.environ | added).returncode
        written = Path(counts.name).read_text()
    return code, Counter(json.loads(written)) if written else Counter()


def main(arguments: list[str]) -> int:
    """Both runs; the exit code is 0 only if every test that could run passed."""
    os.environ.pop("DATABASE_URL", None)
    required = os.environ.get("IRIS_REQUIRE_SERVICES") == "1"
    missing = ""
    with ExitStack() as services:
        try:
            url = services.enter_context(postgres())
        except MissingProgramError as program:
            url, missing = "", f"missing: PostgreSQL (program {program}): the tests were not run on it"
        shared = {"IRIS_TEST_POSTGRES": url} if url else {}
        runs = [run("SQLite", arguments, shared)]
        if url:
            runs.append(run("PostgreSQL", arguments, shared | {"DATABASE_URL": url}))
    total = sum((counts for _, counts in runs), Counter[str]())
    if missing:
        say(missing)
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    say(f"\n{total['passed']} passed, {total['failed']} failed{skipped}")
    ran_badly = any(code not in (0, NO_TESTS_COLLECTED) for code, _ in runs) or not total["passed"]
    return int(ran_badly or (required and bool(missing)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
