"""`manage.py plan_cluster FILE... [--json] [--timing]`: what the group autoscaler does in a scenario, and why."""

import json
import sys
import time
from argparse import ArgumentParser
from typing import Any

from scaling.management.base import IrisCommand
from scaling.management.scenario_files import BAD_FILE_EXIT, BadFile, load_scenarios
from scaling.scenarios.cluster_reading import parse_cluster_scenario
from scaling.scenarios.cluster_report import lines, report
from scaling.scenarios.cluster_runner import run_cluster_scenario


class Command(IrisCommand):
    help = "Runs the group autoscaler on scenario files (YAML or JSON); touches neither database nor platform."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help="scenario files, each with one or more documents")
        parser.add_argument("--json", action="store_true", help="one JSON object per scenario and line, in order")
        parser.add_argument(
            "--timing", action="store_true", help="add plan_seconds, the pure plan alone, to each cycle"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prints each scenario's run; a file that cannot be used is one line on standard error and exit 2."""
        try:
            scenarios = load_scenarios(options["files"], parse_cluster_scenario)
        except BadFile as error:
            self.stderr.write(str(error))
            sys.exit(BAD_FILE_EXIT)
        clock = time.perf_counter if options["timing"] else None
        for index, scenario in enumerate(scenarios):
            run = run_cluster_scenario(scenario, clock)
            if options["json"]:
                self.stdout.write(json.dumps(report(run), allow_nan=False))
            else:
                self.stdout.write("\n".join([*([""] if index else []), *lines(run)]))
