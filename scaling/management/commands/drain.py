"""`manage.py drain NAME [--reason TEXT] [--deadline TIME]`: empty a group, or let one slice go."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from scaling.counting import counted
from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, is_slice
from scaling.models import Slice
from scaling.operations import drain_group, drain_slice
from scaling.operations.inputs import written_time


class Command(ShellAct):
    help = "Drains a group or a slice: no new demand, and its slices go as they fall idle."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="a group or a slice")
        parser.add_argument("--reason", default="", help="why; kept in the history")
        parser.add_argument(
            "--deadline",
            metavar="TIME",
            type=written_time,
            help="when what is still busy ends (ISO 8601, UTC; or Unix seconds)",
        )

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        name, reason, deadline = options["name"], options["reason"], options["deadline"]
        if is_slice(name):
            if deadline:
                raise CommandError("--deadline: only a whole group has one")
            drain_slice(actor, name, reason)
            return f"slice {name} drains: it goes when it is idle"
        group = drain_group(actor, name, reason, deadline)
        left = group.slices.filter(state__in=Slice.LIVE).count()
        if not left:
            return f"group {name} drains: it has no slices left; take it back with undrain"
        go = "is left and goes as it falls idle" if left == 1 else "are left and go as they fall idle"
        return f"group {name} drains: {counted(left, 'slice')} {go}; take it back with undrain"
