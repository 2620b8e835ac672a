"""`manage.py unhalt [--reason TEXT]`: let buying and releasing of slices go on."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import unhalt


class Command(ShellAct):
    help = "Lets buying and releasing of slices go on from the next cycle."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        unhalt(actor, options["reason"])
        return "buying and releasing of slices go on with the next cycle"
