"""`python -m scaling.testing.fleet --state-dir DIR`: a fleet to run against, without Django."""

import argparse
import sys

from scaling.testing.fleet.options import add_arguments, read_options
from scaling.testing.fleet.run import CannotRun, run


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scaling.testing.fleet", description=__doc__)
    add_arguments(parser)
    try:
        run(read_options(vars(parser.parse_args())), say)
    except (CannotRun, ValueError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
