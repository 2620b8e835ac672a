"""`manage.py clear_marker MARKER [--reason TEXT]`: forget a failure and try again."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, find_marker_id
from scaling.operations import clear_marker


class Command(ShellAct):
    help = "Forgets a failure of a group: the next cycle may buy there again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("marker", metavar="MARKER", help="its number, or its group where that has one open marker")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        marker = clear_marker(actor, find_marker_id(options["marker"]), options["reason"])
        return f"marker {marker.pk} ({marker.kind} on {marker.group.name}) is cleared"
