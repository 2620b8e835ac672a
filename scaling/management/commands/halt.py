"""`manage.py halt [--reason TEXT]`: stop all buying and releasing at once, on every platform."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import halt


class Command(ShellAct):
    help = "Stops all buying and releasing at once, on every platform."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        halt(actor, options["reason"])
        return "halted: nothing is bought or released; take it back with unhalt"
