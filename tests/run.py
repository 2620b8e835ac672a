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
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.services.postgres import postgres
from tests.services.programs import MissingProgramError

ROOT = Path(__file__).resolve().parents[1]
NO_TESTS_COLLECTED = 5


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Part:
    """What one pytest runs: a part of the tests on one database, or one of several shares of it, in whole files.

    It is begun when no more than `beside` others run.
    """

    database: str
    name: str
    share: int = 1
    shares: int = 1
    beside: int = 2

    @property
    def title(self) -> str:
        return f"{self.database}, {self.name}" + (f" ({self.share} of {self.shares})" if self.shares > 1 else "")


# Each is begun in its turn: long ones first. Two cores are busy with three parts, for the browser's tests wait much.
# Those that start processes and look at the clock come at the end, with less beside them.
PARTS = (
    Part("SQLite", "browser"),
    Part("PostgreSQL", "others", 1, 2),
    Part("SQLite", "others", 1, 2),
    Part("SQLite", "others", 2, 2),
    Part("PostgreSQL", "others", 2, 2),
    *(Part("SQLite", "processes", share, 4, beside=1) for share in (1, 2)),
    Part("PostgreSQL", "processes", beside=1),
    *(Part("SQLite", "processes", share, 4, beside=1) for share in (3, 4)),
)


@dataclass(slots=True)
class Outcome:
    """How many tests passed, failed and were skipped, what failed, and whether each pytest ended as it should."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    went_badly: bool = False


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs parts on these databases (their environments), with what it writes in `folder`.

    `plan` has the files of each database and part with their numbers of tests; looking for tests in all files takes
    longer than many of them. With `arguments` of a person each run looks for itself, and parts are not shared out.
    """

    databases: Mapping[str, Mapping[str, str]]
    arguments: Sequence[str]
    folder: Path
    plan: Mapping[str, Mapping[str, Mapping[str, int]]]

    def run(self, parts: Sequence[Part]) -> Outcome:
        """What a part printed is shown when it has ended."""
        outcome, showing = Outcome(), threading.Lock()

        def run(part: Part) -> None:
            code, printed, told = self._part(part)
            with showing:
                say(f"\n{part.title}:\n{printed}")
                outcome.counts += Counter(told["counts"])
                outcome.failures += [f"FAILED {failure} [{part.title}]" for failure in told["failures"]]
                outcome.went_badly |= code not in (0, NO_TESTS_COLLECTED)

        parts = [part for part in parts if part.database in self.databases]
        if self.arguments:
            parts = list(dict.fromkeys(replace(part, share=1, shares=1) for part in parts))
        with ThreadPoolExecutor(len(parts)) as pool:
            running: set[Future[None]] = set()
            for part in parts:
                while len(running) > part.beside:
                    ended, running = wait(running, return_when=FIRST_COMPLETED)
                    for one in ended:
                        one.result()
                running.add(pool.submit(run, part))
            for one in running:
                one.result()
        return outcome

    def _part(self, part: Part) -> tuple[int, str, dict[str, Any]]:
        """Its exit code, what it printed, and its counts and failures."""
        told: dict[str, Any] = {"counts": {}, "failures": []}
        counts = self.folder / f"{part.title}.json"
        added = {"IRIS_TEST_COUNTS": str(counts), "IRIS_TEST_DATABASE": part.database, "IRIS_TEST_PART": part.name}
        files = self.arguments or share_of(self.plan.get(part.database, {}).get(part.name, {}), part)
        if not files:
            return NO_TESTS_COLLECTED, "no tests", told
        say(f"{part.title}: begun")
        # A file, for a process that outlives its test would keep a pipe open.
        output = counts.with_suffix(".log")
        code = pytest(files, added | self.databases[part.database], output)
        told = json.loads(counts.read_text()) if counts.exists() else told
        return code, output.read_text(errors="replace"), told


def share_of(files: Mapping[str, int], part: Part) -> list[str]:
    """Its files: long ones first, each to the share that has the fewest tests so far."""
    sizes, own = [0] * part.shares, []
    for path, tests in sorted(files.items(), key=lambda it: (-it[1], it[0])):
        share = sizes.index(min(sizes))
        sizes[share] += tests
        if share == part.share - 1:
            own.append(path)
    return sorted(own)


def pytest(arguments: Sequence[str], environment: Mapping[str, str], output: Path) -> int:
    with output.open("wb") as file:
        return subprocess.call(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def read_plan(folder: Path) -> Any:
    """The files of each part on each database; raises SystemExit with pytest's words where files cannot be read."""
    plan, output = folder / "plan.json", folder / "plan.log"
    if pytest(["--collect-only", "-q"], {"IRIS_TEST_PLAN": str(plan)}, output) != 0:
        raise SystemExit(output.read_text(errors="replace"))
    return json.loads(plan.read_text())


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

        runner = Runner(databases, arguments, folder, {} if arguments else read_plan(folder))
        outcome = runner.run(PARTS)
    total = outcome.counts
    if missing:
        say(missing)
    if outcome.failures:
        say("\n" + "\n".join(outcome.failures))
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    say(f"\n{total['passed']} passed, {total['failed']} failed{skipped}")
    ran_badly = outcome.went_badly or not total["passed"]
    return int(ran_badly or (required and bool(missing)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
