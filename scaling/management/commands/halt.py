"""`manage.py halt [--reason TEXT]`: stop buying and releasing of slices at once, on every platform."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import halt


class Command(ShellAct):
    help = "Stops buying and releasing of slices at once, on every platform. Deployments go on being scaled."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        halt(actor, options["reason"])
        return "halted: no slice is bought or released, deployments go on being scaled; take it back with unhalt"
