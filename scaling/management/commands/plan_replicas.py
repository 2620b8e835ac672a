"""`manage.py plan_replicas FILE... [--json]`: what the replica scaler decides in a scenario, and why."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from scaling.management.base import IrisCommand
from scaling.management.scenario_files import BAD_FILE_EXIT, BadFile, load_scenarios
from scaling.scenarios.replica_reading import parse_scenario
from scaling.scenarios.replica_report import report, table
from scaling.scenarios.replica_runner import run_scenario


class Command(IrisCommand):
    help = "Runs the replica decision on scenario files (YAML or JSON); touches neither database nor network."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help="scenario files, each with one or more documents")
        parser.add_argument("--json", action="store_true", help="one JSON object per scenario and line, in order")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prints each scenario's run; a file that cannot be used is one line on standard error and exit 2."""
        try:
            scenarios = load_scenarios(options["files"], parse_scenario)
        except BadFile as error:
            self.stderr.write(str(error))
            sys.exit(BAD_FILE_EXIT)
        for index, scenario in enumerate(scenarios):
            run = run_scenario(scenario)
            if options["json"]:
                self.stdout.write(json.dumps(report(run), allow_nan=False))
            else:
                self.stdout.write("\n".join([*([""] if index else []), *table(run)]))
