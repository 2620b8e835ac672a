"""`manage.py forget_learned_limit POOL [--reason TEXT]`: let a pool's own limit count again."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import forget_learned_limit


class Command(ShellAct):
    help = "Forgets the limit that a platform taught a quota pool."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="POOL")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        return (
            f"the learned limit of {forget_learned_limit(actor, options['name'], options['reason']).name} is forgotten"
        )
