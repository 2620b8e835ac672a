"""Acts from a shell: the same operations as the pages', done in the name of the operating system's user."""

import getpass
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError

from scaling.history import Actor
from scaling.management.base import IrisCommand
from scaling.models import Deployment, Group, Marker, Slice, Source
from scaling.operations import NotFound, OperationError, OperationRefused
from scaling.operations.fields import FieldTable, nearest
from scaling.operations.inputs import shown
from scaling.operations.written import read


class ShellAct(IrisCommand):
    """A command that does one act; a refusal is one sentence on standard error and exit 1."""

    @abstractmethod
    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        """Do it and say what was done."""

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.stdout.write(self.act(shell_user(), options))
        except OperationError as refused:
            raise CommandError(str(refused)) from None


class ShellEdit(ShellAct):
    """A command that changes fields of one thing, given as FIELD=VALUE; an empty VALUE is null."""

    table: FieldTable
    metavar: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar=self.metavar)
        parser.add_argument("fields", metavar="FIELD=VALUE", nargs="+", help=f"of {', '.join(self.table)}")
        parser.add_argument("--reason", default="", help="why; kept in the history")

    def changes(self, options: dict[str, Any]) -> dict[str, Any]:
        """What was written, as operations take it; an unknown field is theirs to refuse."""
        pairs = [text.partition("=") for text in options["fields"]]
        for name, equals, _ in pairs:
            if not equals:
                raise CommandError(f'expected FIELD=VALUE, got "{name}"')
        return {name: read(self.table[name], text) if name in self.table else text for name, _, text in pairs}


def shell_user() -> Actor:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = "unknown"
    return Actor.user(name[:150], Source.SHELL)


def is_slice(name: str) -> bool:
    """Whether the name means a slice and not a group; raises NotFound where it means neither."""
    if Group.objects.filter(name=name).exists():
        return False
    if Slice.objects.filter(name=name).exists():
        return True
    raise neither("group or slice", name, Group.objects.values_list("name", flat=True))


def neither(kinds: str, name: str, known: Iterable[str]) -> NotFound:
    """The sentence for a name that nothing of these kinds has, with the nearest of those that are known."""
    return NotFound(f"there is no {kinds} {shown(name)}{nearest(name, known)}")


def find_marker_id(text: str) -> int:
    """A marker by its number, or by its group where that has one open marker only."""
    if text.isascii() and text.isdecimal():
        return int(text)
    open_ones = list(Marker.objects.filter(group__name=text, closed_at=None).order_by("pk"))
    if len(open_ones) == 1:
        return open_ones[0].pk
    if not open_ones:
        groups = Marker.objects.filter(closed_at=None).order_by("group__name").values_list("group__name", flat=True)
        near = nearest(text, groups.distinct())
        raise NotFound(f"{text} is neither the number of a marker nor a group with an open one{near}")
    numbers = ", ".join(f"{marker.pk} ({marker.kind})" for marker in open_ones)
    raise NotFound(f"{text} has several open markers: give one of {numbers}")


def add_which(parser: ArgumentParser) -> None:
    """Say what NAME is, where a group and a deployment have the same."""
    which = parser.add_mutually_exclusive_group()
    for kind in ("group", "deployment"):
        which.add_argument(f"--{kind}", dest="which", action="store_const", const=kind, help=f"NAME is a {kind}")


def is_deployment(name: str, which: str | None = None) -> bool:
    """Whether the name means a deployment and not a group; raises NotFound for neither, OperationRefused for both."""
    if which is not None:
        return which == "deployment"
    group = Group.objects.filter(name=name).exists()
    deployment = Deployment.objects.filter(deployment_id=name)
    if group and deployment.filter(gone_at=None).exists():
        raise OperationRefused(f"a group and a deployment are named {name}: say which, --group or --deployment")
    if not group and not deployment.exists():
        names = Deployment.objects.filter(gone_at=None).values_list("deployment_id", flat=True)
        raise neither("group or deployment", name, [*Group.objects.values_list("name", flat=True), *names])
    return not group
