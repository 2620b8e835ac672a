"""Runs a benchmark once on SQLite and once on a throwaway PostgreSQL, where that is on this machine."""

import os
import subprocess
import sys

from tests.services.postgres import postgres
from tests.services.programs import MissingProgramError


def on_both(module: str) -> int:
    """The benchmark of that module with this command's own arguments and `--database`; 0 when both ended so."""
    command = [sys.executable, "-m", module, *sys.argv[1:], "--database"]
    missed = subprocess.run([*command, "sqlite"]).returncode
    try:
        with postgres() as url:
            missed |= subprocess.run([*command, "postgresql"], env=os.environ | {"DATABASE_URL": url}).returncode
    except MissingProgramError as program:
        print(f"not measured on PostgreSQL: {program} is not on this machine")
    return missed
