"""`manage.py up`: all of Iris on this machine, until Ctrl-C."""

import argparse
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from scaling.management.base import IrisCommand
from scaling.stopping import StopRequest
from scaling.supervisor.checks import CannotStart
from scaling.supervisor.foreground import own_foreground
from scaling.supervisor.start import Options, up

PORTS = 65535


def port(text: str) -> int:
    """A TCP port, 0 meaning any free one."""
    if not text.isdecimal() or int(text) > PORTS:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {PORTS}, got {text!r}")
    return int(text)


class Command(IrisCommand):
    help = "Starts Iris on this machine: web, worker and ticker, kept alive until Ctrl-C."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--cluster", type=Path, metavar="FILE", help="open on this Iris cluster file")
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
        parser.add_argument(
            "--port", type=port, default=8000, help="port to listen on, 0 = any free one (default: 8000)"
        )
        parser.add_argument(
            "--no-demonstration", action="store_true", help="start empty instead of on a simulated cluster"
        )
        parser.add_argument("--show-logs", action="store_true", help="show what the processes log here too")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Options(
            host=options["host"],
            port=options["port"],
            cluster=options["cluster"],
            demonstration=not options["no_demonstration"],
            show_logs=options["show_logs"],
        )
        with own_foreground(), StopRequest().on_signals(*_ending_signals()) as stop:
            try:
                up(chosen, stop, self._say)
            except CannotStart as refusal:
                self.stderr.write(str(refusal))
                sys.exit(refusal.code)

    def _say(self, line: str) -> None:
        # A terminal that has gone away is no reason to stop.
        with suppress(OSError):
            self.stdout.write(line)
            self.stdout.flush()


def _ending_signals() -> list[signal.Signals]:
    """What ends `up`; a hang-up only where nohup has not asked to outlive the terminal."""
    hang_up = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hang_up]
