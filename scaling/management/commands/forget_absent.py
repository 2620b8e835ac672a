"""`manage.py forget_absent [--reason TEXT]`: forget deployments that the Gateway no longer lists."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import forget_absent_deployments


class Command(ShellAct):
    help = "Forgets every deployment that the Gateway no longer lists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        return f"{forget_absent_deployments(actor, options['reason'])} forgotten"
