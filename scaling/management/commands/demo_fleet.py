"""`manage.py demo_fleet`: a Gateway with replicas under load and a stand-in for Prometheus, until Ctrl-C."""

import argparse
import sys
from typing import Any

from scaling.management.base import IrisCommand
from scaling.testing.fleet.options import add_arguments, read_options
from scaling.testing.fleet.run import CannotRun, run


class Command(IrisCommand):
    help = "Runs a fleet of inference replicas to scale: a Gateway, its replicas, and a stand-in for Prometheus."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run(read_options(options), self._say)
        except (CannotRun, ValueError) as problem:
            self.stderr.write(str(problem))
            sys.exit(1)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
