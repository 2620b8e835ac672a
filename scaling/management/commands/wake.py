"""`manage.py wake DEPLOYMENT [--reason TEXT]`: bring one that is at zero back."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import wake_deployment


class Command(ShellAct):
    help = "Wakes a deployment that is at zero."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="DEPLOYMENT")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        row = wake_deployment(actor, options["name"], options["reason"])
        return f"deployment {row} is being woken to {row.wanted_replicas}"
