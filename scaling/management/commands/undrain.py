"""`manage.py undrain NAME [--reason TEXT]`: end the drain of a group or a slice."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct, is_slice
from scaling.operations import undrain_group, undrain_slice


class Command(ShellAct):
    help = "Ends the drain of a group or a slice; what has gone stays gone."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="a group or a slice")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        name = options["name"]
        if is_slice(name):
            undrain_slice(actor, name, options["reason"])
            return f"slice {name} serves again"
        undrain_group(actor, name, options["reason"])
        return f"group {name} serves again and may grow"
