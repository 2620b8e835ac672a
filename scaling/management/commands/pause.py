"""`manage.py pause GROUP [--reason TEXT] [--until TIME]`: request nothing new for a group."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import pause_group
from scaling.operations.acts import when


class Command(ShellAct):
    help = "Pauses a group: nothing new is requested; what it has goes on serving."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="GROUP")
        parser.add_argument("--reason", default="", help="why; kept in the history")
        parser.add_argument("--until", metavar="TIME", help="when it ends by itself (ISO 8601; UTC)")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        group = pause_group(actor, options["name"], options["reason"], options["until"])
        return f"group {group.name} is paused until {when(group.pause_until)}"
