"""`manage.py set_mode PLATFORM observe|act [--reason TEXT]`: whether a platform's plans are carried out."""

from argparse import ArgumentParser
from typing import Any

from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import set_platform_mode


class Command(ShellAct):
    help = "Switches a platform between observing and acting."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="PLATFORM")
        parser.add_argument("mode", metavar="MODE", help="observe or act")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        platform = set_platform_mode(actor, options["name"], options["mode"], options["reason"])
        return f"platform {platform.name} is in mode {platform.mode}"
