"""`make test`: the same tests on SQLite and on PostgreSQL, and what was missing on this machine at the end.

Arguments go to pytest. On PostgreSQL, what the database makes no difference to is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.services.postgres import postgres
from tests.services.programs import MissingProgramError

ROOT = Path(__file__).resolve().parents[1]
NO_TESTS_COLLECTED = 5


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Part:
    """What one pytest runs: a part of the tests on one database, or one share of that part."""

    database: str
    name: str
    share: str = "1/1"

    @property
    def title(self) -> str:
        return f"{self.database}, {self.name}" + (
            f" ({self.share.replace('/', ' of ')})" if self.share != "1/1" else ""
        )


@dataclass(frozen=True, slots=True)
class Phase:
    """Parts that go beside each other, `at_once` of them, each begun in its turn: long ones first."""

    parts: tuple[Part, ...]
    at_once: int


# Two cores are busy with three parts, for the browser's tests wait much. Those that start processes and look at the
# clock come afterwards, with less beside them.
PHASES = (
    Phase(
        (
            Part("SQLite", "browser"),
            Part("PostgreSQL", "others", "1/2"),
            *(Part("SQLite", "others", f"{share}/3") for share in (1, 2)),
            Part("PostgreSQL", "others", "2/2"),
            Part("SQLite", "others", "3/3"),
        ),
        at_once=3,
    ),
    Phase(
        (
            *(Part("SQLite", "processes", f"{share}/4") for share in (1, 2)),
            Part("PostgreSQL", "processes"),
            *(Part("SQLite", "processes", f"{share}/4") for share in (3, 4)),
        ),
        at_once=2,
    ),
)


@dataclass(slots=True)
class Outcome:
    """How many tests passed, failed and were skipped, and whether every run of pytest ended as it should."""

    counts: Counter[str] = field(default_factory=Counter)
    went_badly: bool = False


def run_phase(phase: Phase, databases: dict[str, dict[str, str]], arguments: list[str], folder: Path) -> Outcome:
    """Run the parts of a phase; what a part printed is shown when it has ended."""
    outcome, showing = Outcome(), threading.Lock()

    def run(part: Part) -> None:
        code, printed, counts = run_part(part, databases[part.database], arguments, folder)
        with showing:
            say(f"\n{part.title}:\n{printed}")
            outcome.counts += counts
            outcome.went_badly |= code not in (0, NO_TESTS_COLLECTED)

    with ThreadPoolExecutor(phase.at_once) as pool:
        for done in [pool.submit(run, part) for part in phase.parts if part.database in databases]:
            done.result()
    return outcome


def run_part(
    part: Part, environment: dict[str, str], arguments: list[str], folder: Path
) -> tuple[int, str, Counter[str]]:
    """Its exit code, what it printed, and its counts."""
    counts = folder / f"{part.database}-{part.name}-{part.share.replace('/', '-')}.json"
    added = {
        "IRIS_TEST_COUNTS": str(counts),
        "IRIS_TEST_DATABASE": part.database,
        "IRIS_TEST_PART": part.name,
        "IRIS_TEST_SHARE": part.share,
        **environment,
    }
    say(f"{part.title}: begun")
    # A file, for a process that outlives its test would keep a pipe open.
    output = counts.with_suffix(".log")
    with output.open("wb") as file:
        code = subprocess.call(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=ROOT,
            env=os.environ | added,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    counted = Counter(json.loads(counts.read_text())) if counts.exists() else Counter()
    return code, output.read_text(errors="replace"), counted


def main(arguments: list[str]) -> int:
    """All runs; the exit code is 0 only if every test that could run passed."""
    os.environ.pop("DATABASE_URL", None)
    required = os.environ.get("IRIS_REQUIRE_SERVICES") == "1"
    missing = ""
    with ExitStack() as services:
        try:
            url = services.enter_context(postgres())
        except MissingProgramError as program:
            url, missing = "", f"missing: PostgreSQL (program {program}): the tests were not run on it"
        folder = Path(services.enter_context(tempfile.TemporaryDirectory(prefix="iris-run-")))
        shared = {"IRIS_TEST_POSTGRES": url} if url else {}
        databases = {"SQLite": shared}
        if url:
            databases["PostgreSQL"] = shared | {"DATABASE_URL": url}

        outcomes = [run_phase(phase, databases, arguments, folder) for phase in PHASES]
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    if missing:
        say(missing)
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    say(f"\n{total['passed']} passed, {total['failed']} failed{skipped}")
    ran_badly = any(outcome.went_badly for outcome in outcomes) or not total["passed"]
    return int(ran_badly or (required and bool(missing)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
