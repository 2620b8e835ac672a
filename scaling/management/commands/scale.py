"""`manage.py scale DEPLOYMENT REPLICAS [--reason TEXT]`: have so many replicas now."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import scale_deployment


class Command(ShellAct):
    help = "Scales a deployment now; 0 holds it at zero until it is woken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="DEPLOYMENT")
        parser.add_argument("replicas", metavar="REPLICAS", type=int)
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        row = scale_deployment(actor, options["name"], options["replicas"], options["reason"])
        return f"deployment {row} is being scaled to {row.wanted_replicas}"
