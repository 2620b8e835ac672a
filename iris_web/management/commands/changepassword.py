"""`manage.py changepassword NAME`: Django's own command, told to the history. Every session of that person ends."""

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.models import User
from django.db import transaction

from scaling import people
from scaling.management.shell_acts import shell_user


class Command(changepassword.Command):
    help = "Sets a person's password; they are signed out everywhere."

    def handle(self, *args: Any, **options: Any) -> str | None:
        with transaction.atomic():
            said = super().handle(*args, **options)
            name = options["username"] or getpass.getuser()
            people.note_new_password(shell_user(), User.objects.get(username=name))
        return said
