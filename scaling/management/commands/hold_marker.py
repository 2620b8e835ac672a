"""`manage.py hold_marker MARKER --until TIME [--reason TEXT]`: keep a group blocked longer."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, find_marker_id
from scaling.operations import hold_marker
from scaling.operations.acts import when
from scaling.operations.inputs import written_time


class Command(ShellAct):
    help = "Holds a failure of a group longer than it would by itself."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("marker", metavar="MARKER", help="its number, or its group where that has one open marker")
        parser.add_argument(
            "--until",
            metavar="TIME",
            type=written_time,
            required=True,
            help="its new end (ISO 8601, UTC; or Unix seconds)",
        )
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        marker = hold_marker(actor, find_marker_id(options["marker"]), options["until"], options["reason"])
        return f"marker {marker.pk} ({marker.kind} on {marker.group.name}) holds until {when(marker.until)}"
