"""`manage.py create_token NAME --role ROLE [--scope SCOPE] [--expires TIME]`: an API token, shown once."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.models import ApiToken
from scaling.operations import create_token
from scaling.operations.inputs import written_time


class Command(ShellAct):
    help = "Makes an API token and prints its secret, which cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="who uses it; the actor of its acts in the history")
        parser.add_argument("--role", required=True, choices=ApiToken.Role.values)
        parser.add_argument("--scope", default="", help="the source of a scheduler token, the worker of a worker token")
        parser.add_argument(
            "--expires",
            metavar="TIME",
            type=written_time,
            help="when it ends (ISO 8601, UTC; or Unix seconds); never unless told",
        )

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        """Only the secret, so that a script can take it as it is."""
        return create_token(actor, options["name"], options["role"], options["scope"], options["expires"])[1]
