"""`make bench`: every benchmark of this folder in turn, or those that are named: `make bench ARGS="plan sockets"`."""

import pkgutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """The benchmarks: each module that is no package (the torture is one, and has a command of its own)."""
    return sorted(found.name for found in pkgutil.iter_modules([str(HERE)]) if not found.ispkg and found.name[0] != "_")


def main(chosen: list[str]) -> int:
    """Run them one after the other; 1 when one of them missed its bound or there is none of that name."""
    unknown = set(chosen) - set(names())
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    missed = []
    for name in chosen or names():
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=HERE.parent).returncode:
            missed.append(name)
    print(f"\nmissed its bound: {', '.join(missed)}" if missed else "\nevery bound was kept")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
