"""`manage.py pause NAME [--group | --deployment] [--reason TEXT] [--until TIME] [--direction WAY]`.

Pauses a group, or the scaling of a deployment.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, add_which, is_deployment
from scaling.operations import pause_deployment, pause_group
from scaling.operations.acts import when
from scaling.operations.inputs import written_time


class Command(ShellAct):
    help = "Pauses a group (nothing new is requested; what it has goes on serving) or the scaling of a deployment."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="a group or a deployment")
        add_which(parser)
        parser.add_argument("--reason", default="", help="why; kept in the history")
        parser.add_argument(
            "--until", metavar="TIME", type=written_time, help="when it ends by itself (ISO 8601, UTC; or Unix seconds)"
        )
        parser.add_argument("--direction", help="of a deployment: both (default), up or down")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        name, reason, until, direction = (options[key] for key in ("name", "reason", "until", "direction"))
        if is_deployment(name, options["which"]):
            row = pause_deployment(actor, name, direction or "both", until, reason)
            return f"deployment {row} is paused ({row.pause_direction}) until {when(row.pause_until)}"
        if direction:
            raise CommandError("--direction: only a deployment has one")
        group = pause_group(actor, name, reason, until)
        return f"group {group.name} is paused until {when(group.pause_until)}"
