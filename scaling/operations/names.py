"""The names of those who act in the history: people, tokens and Iris itself. None of them can be taken for another."""

from collections.abc import Iterable

from django.contrib.auth.models import Group as RoleGroup

from scaling.history import SYSTEM
from scaling.operations.look_alikes import check_name


def lock_names() -> None:
    """Until the transaction ends, no other one gives a name or a role: each looks first at what there is."""
    RoleGroup.objects.select_for_update().get_or_create(name="admin")


def check_free(name: str, people: Iterable[str], tokens: Iterable[str]) -> None:
    """Raise ValueError, in one sentence, for a new name that can be taken for another one.

    That two people have one name is the database's to refuse.
    """
    people, tokens = list(people), list(tokens)
    if name == SYSTEM.name:
        raise ValueError(f'"{name}" is what the history calls Iris itself: choose another name')
    if name in tokens:
        raise ValueError(f'there is a token named "{name}" already')
    check_name(name, [SYSTEM.name, *people, *tokens])
