"""`manage.py acknowledge MARKER --note TEXT [--until TIME]`: say that someone knows of a failure."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, find_marker_id
from scaling.operations import acknowledge_marker


class Command(ShellAct):
    help = "Acknowledges a marker (a stock-out, back-off, quota or permanent failure of a group)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("marker", metavar="MARKER", help="its number, or its group where that has one open marker")
        parser.add_argument("--note", required=True, help="what is known and being done about it")
        parser.add_argument("--until", metavar="TIME", help="when it wants looking at again (ISO 8601; UTC)")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        marker = acknowledge_marker(actor, find_marker_id(options["marker"]), options["note"], options["until"])
        return f"marker {marker.pk} ({marker.kind} on {marker.group.name}) is acknowledged by {marker.acknowledged_by}"
