"""`manage.py createsuperuser [--username NAME]`: an admin made in a shell, told to the history.

Stands for Django's command, which writes no history; it knows the options of that one which mean something here.
"""

import os
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError
from django.db import IntegrityError

from iris_web.management.typed import typed, typed_password
from scaling import people
from scaling.management.shell_acts import shell_user
from scaling.operations import OperationRefused

# As Django's command reads them without a terminal.
NAME, EMAIL, PASSWORD = (f"DJANGO_SUPERUSER_{what}" for what in ("USERNAME", "EMAIL", "PASSWORD"))


class Command(BaseCommand):
    help = "Makes an admin, for when nobody else can; asks for what is not given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username", default="", help=f"asked for, or {NAME} with --noinput")
        parser.add_argument("--email", default="", help=f"none unless told, here or in {EMAIL}")
        parser.add_argument(
            "--noinput",
            "--no-input",
            action="store_false",
            dest="interactive",
            help=f"ask nothing; the password is {PASSWORD}, and without it there is none",
        )

    def handle(self, *_args: Any, **options: Any) -> str:
        asks = options["interactive"]
        name = options["username"] or os.environ.get(NAME, "") or (typed(input, "Name: ").strip() if asks else "")
        user = User(username=name, email=options["email"] or os.environ.get(EMAIL, ""))
        user.is_superuser = user.is_staff = True
        _check(user)
        password = typed_password(user, self.stderr) if asks else os.environ.get(PASSWORD, "")
        try:
            people.save_person(shell_user(), user, "admin", password)
        except IntegrityError:
            raise CommandError(f"somebody is named {name} already") from None
        return f"{name} is made, as an admin." + ("" if password else " They have no password.")


def _check(user: User) -> None:
    """Raise CommandError where nobody can be made of this name and e-mail address."""
    try:
        user.clean_fields(exclude=["password"])
        user.validate_unique()
        people.check_person_name(user.username)
    except ValidationError as wrong:
        told = [f"{field}: {' '.join(texts)}" for field, texts in wrong.message_dict.items()]
        raise CommandError(" ".join(told)) from None
    except OperationRefused as misleading:
        raise CommandError(str(misleading)) from None
