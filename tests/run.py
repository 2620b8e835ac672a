"""`make test`: the same tests on SQLite and on PostgreSQL, and what was missing on this machine at the end.

Arguments go to pytest. On PostgreSQL, what the database makes no difference to is left out. The two run at once, a
core for each, and the tests with a browser beside the longer one; tests that start processes and look at the clock come
afterwards, alone.
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


class Run:
    """One run of pytest beside others; its output goes to the terminal, or into a file until it is shown."""

    def __init__(self, title: str, arguments: list[str], environment: dict[str, str], folder: Path, live: bool) -> None:
        self.title = title
        self._counts, self._output = folder / f"{title}.json", folder / f"{title}.log"
        added = {"IRIS_TEST_COUNTS": str(self._counts), **environment}
        if live:
            say(f"\n{title}:")
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *arguments],
                cwd=ROOT,
                env=os.environ | added,
                stdout=None if live else output,
                stderr=None if live else subprocess.STDOUT,
            )

    def finish(self) -> None:
        """Wait for its end and show nothing yet."""
        self._process.wait()

    def wait(self) -> int:
        """Its exit code; what was kept of its output is shown now."""
        code = self._process.wait()
        if kept := self._output.read_text(errors="replace"):
            say(f"\n{self.title}:\n{kept}")
        return code

    def counts(self) -> Counter[str]:
        """How many tests passed, failed, were skipped."""
        return Counter(json.loads(self._counts.read_text())) if self._counts.exists() else Counter()


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

        def start(database: str, part: str, live: bool) -> Run:
            environment = databases[database] | {"IRIS_TEST_DATABASE": database, "IRIS_TEST_PART": part}
            return Run(f"{database}, {part}", arguments, environment, folder, live)

        # A core for each: what is quick on the second one makes room for the browser, which needs one database only.
        first = start("SQLite", "others", live=True)
        second = [start("PostgreSQL", "others", live=False)] if url else []
        for run in second:
            run.finish()
        second.append(start("SQLite", "browser", live=False))
        runs = [first, *second]
        codes = [run.wait() for run in runs]
        for database in databases:
            runs.append(start(database, "processes", live=True))
            codes.append(runs[-1].wait())
        total = sum((run.counts() for run in runs), Counter[str]())
    if missing:
        say(missing)
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    say(f"\n{total['passed']} passed, {total['failed']} failed{skipped}")
    ran_badly = any(code not in (0, NO_TESTS_COLLECTED) for code in codes) or not total["passed"]
    return int(ran_badly or (required and bool(missing)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
