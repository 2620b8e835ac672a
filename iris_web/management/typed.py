"""A password typed in a shell: twice the same, and one that the pages would take."""

import getpass
from collections.abc import Callable

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError
from django.core.management.base import OutputWrapper

TRIES = 3


def typed(ask: Callable[[str], str], prompt: str) -> str:
    """What `ask` is told; raises CommandError where nobody is there to type."""
    try:
        return ask(prompt)
    except EOFError:
        raise CommandError("nobody is there to type; nothing is changed") from None


def typed_password(user: User, refusals: OutputWrapper) -> str:
    """Ask for it; raises CommandError when nothing was typed, or nothing good three times."""
    for _ in range(TRIES):
        password = typed(getpass.getpass, "Password: ")
        if not password:
            raise CommandError("no password was typed; nothing is changed")
        fault = _fault(user, password, typed(getpass.getpass, "Password (again): "))
        if not fault:
            return password
        refusals.write(fault)
    raise CommandError(f"no password after {TRIES} tries; nothing is changed")


def _fault(user: User, password: str, again: str) -> str:
    if password != again:
        return "The two are not the same."
    try:
        validate_password(password, user)
    except ValidationError as weak:
        return " ".join(weak.messages)
    return ""
