"""Starts a control plane in a folder of its own and kills it again and again.

    make torture ARGS="--kills 200 --seed 1 --database sqlite"

Kills are numbered: `--first N` goes on where a run was broken off, with the same aims and offsets. Exits 1 when
something did not hold, when the control plane logged an error, or when a window was hit less than half as often as it
was aimed at.
"""

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.torture import ROOT

SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "iris_web.settings",
    "IRIS_SECRET_KEY": secrets.token_urlsafe(50),
    "IRIS_CYCLE_SECONDS": "0.5",
    "IRIS_LEASE_TTL": "15",
    "IRIS_PLATFORM_TIMEOUT": "1",
    "IRIS_CREATES_PER_MINUTE": "1000000",
    "IRIS_LOG_LEVEL": "WARNING",
}
SHOWN_ERRORS = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first kill")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--keep", action="store_true", help="keep data and logs also when all held")
    options = parser.parse_args()
    with _folder(options.keep) as state, _database(options.database) as url:
        os.environ |= SETTINGS | {"IRIS_STATE_DIR": str(state), "DATABASE_URL": url}
        subprocess.run([sys.executable, str(ROOT / "manage.py"), "migrate", "-v0"], check=True)
        return _run(state, url, options.seed, range(options.first, options.first + options.kills))


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    """A folder for data and logs; kept, and named, when something did not hold."""
    path = Path(tempfile.mkdtemp(prefix="iris-torture-"))
    try:
        yield path
        if not keep:
            shutil.rmtree(path)
    finally:
        if path.exists():
            print(f"data and logs are kept in {path}")


@contextmanager
def _database(kind: str) -> Iterator[str]:
    """The DATABASE_URL of a throwaway PostgreSQL server, or "" for SQLite in the data folder."""
    if kind == "sqlite":
        yield ""
        return
    from tests.services.postgres import postgres

    with postgres() as url:
        yield url


def _run(state: Path, url: str, seed: int, numbers: range) -> int:
    import django

    django.setup()
    from benchmarks.torture.cluster import make_cluster
    from benchmarks.torture.eye import Eye
    from benchmarks.torture.kills import Torture
    from benchmarks.torture.locks import Locks
    from benchmarks.torture.plane import ControlPlane
    from scaling.platforms.simulated.location import FILE_NAME

    make_cluster()
    began = time.monotonic()
    # The name by which a server knows the control plane's connections from ours.
    plane = ControlPlane(state, {"PGAPPNAME": "iris"})
    files = (state / "iris.sqlite3", state / FILE_NAME)
    eye = Eye.on_postgres(url) if url else Eye.on_sqlite(*files)
    torture = Torture(seed, eye, Locks(*files, url), plane)
    try:
        held = torture.run(numbers)
    finally:
        plane.close()
    print(f"\nseed {seed}, {'PostgreSQL' if url else 'SQLite'}, {time.monotonic() - began:.0f} s")
    print("\n".join(torture.tally.lines()))
    errors = [line for line in plane.log.read_text(errors="replace").splitlines() if " ERROR " in line]
    print(f"{len(errors)} errors in the control plane's log", *errors[:SHOWN_ERRORS], sep="\n   ")
    for window in torture.tally.missed():
        print(f"hit too seldom: {window}")
    if not held or torture.tally.missed() or errors:
        raise SystemExit(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
