"""`manage.py resume NAME [--group | --deployment] [--reason TEXT]`: end a pause before its time."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, add_which, is_deployment
from scaling.operations import resume_deployment, resume_group


class Command(ShellAct):
    help = "Ends the pause of a group or a deployment."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="a group or a deployment")
        add_which(parser)
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        name, reason = options["name"], options["reason"]
        if is_deployment(name, options["which"]):
            return f"deployment {resume_deployment(actor, name, reason)} may scale again"
        return f"group {resume_group(actor, name, reason).name} may grow again"
