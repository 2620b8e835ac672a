"""`manage.py acknowledge MARKER --note TEXT [--until TIME] [--replace]`: say that someone knows of a failure."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, find_marker_id
from scaling.models import Marker
from scaling.operations import StaleVersion, acknowledge_marker
from scaling.operations.inputs import written_time


class Command(ShellAct):
    help = "Acknowledges a marker (a stock-out, back-off, quota or permanent failure of a group)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("marker", metavar="MARKER", help="its number, or its group where that has one open marker")
        parser.add_argument("--note", required=True, help="what is known and being done about it")
        parser.add_argument(
            "--until",
            metavar="TIME",
            type=written_time,
            help="when it wants looking at again (ISO 8601, UTC; or Unix seconds)",
        )

        parser.add_argument("--replace", action="store_true", help="take over what somebody else has acknowledged")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        pk = find_marker_id(options["marker"])
        seen = Marker.objects.filter(pk=pk).values_list("version", flat=True).first() if options["replace"] else None
        try:
            marker = acknowledge_marker(actor, pk, options["note"], options["until"], seen)
        except StaleVersion as taken:
            raise CommandError(f"{taken} (--replace takes it over)") from None
        return f"marker {marker.pk} ({marker.kind} on {marker.group.name}) is acknowledged by {marker.acknowledged_by}"
