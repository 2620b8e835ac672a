"""Acts from a shell: the same operations as the pages', done in the name of the operating system's user."""

import getpass
from abc import abstractmethod
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scaling.history import Actor
from scaling.models import Group, Marker, Slice, Source
from scaling.operations import NotFound, OperationError
from scaling.operations.changes import missing


class ShellAct(BaseCommand):
    """A command that does one act; a refusal is one sentence on standard error and exit 1."""

    @abstractmethod
    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        """Do it and say what was done."""

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.stdout.write(self.act(shell_user(), options))
        except OperationError as refused:
            raise CommandError(str(refused)) from None


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
    raise missing(Group, "name", name)


def find_marker_id(text: str) -> int:
    """A marker by its number, or by its group where that has one open marker only."""
    if text.isdigit():
        return int(text)
    open_ones = list(Marker.objects.filter(group__name=text, closed_at=None).order_by("pk"))
    if len(open_ones) == 1:
        return open_ones[0].pk
    if not open_ones:
        raise NotFound(f"{text} is neither the number of a marker nor a group with an open one")
    numbers = ", ".join(f"{marker.pk} ({marker.kind})" for marker in open_ones)
    raise NotFound(f"{text} has several open markers: give one of {numbers}")
