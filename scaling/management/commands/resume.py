"""`manage.py resume GROUP [--reason TEXT]`: end a pause before its time."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import resume_group


class Command(ShellAct):
    help = "Ends the pause of a group."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="GROUP")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        return f"group {resume_group(actor, options['name'], options['reason']).name} may grow again"
