"""`manage.py changepassword NAME`: Django's command, told to the history. Every session of that person ends.

The person types before anything is locked: a transaction here is the only writer that SQLite lets in.
"""

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.models import User
from django.core.management import CommandError

from iris_web.management.typed import typed_password
from scaling import people
from scaling.management.shell_acts import shell_user
from scaling.operations.fields import nearest


class Command(changepassword.Command):
    help = "Sets a person's password; they are signed out everywhere."

    def handle(self, *_args: Any, **options: Any) -> str:
        name = options["username"] or getpass.getuser()
        user = User.objects.filter(username=name).first()
        if user is None:
            near = nearest(name, User.objects.values_list("username", flat=True))
            raise CommandError(f"nobody is named {name} here{near}")
        self.stdout.write(f"The new password of {name}")
        people.set_password(shell_user(), user, typed_password(user, self.stderr))
        return f"The password of {name} is changed. They are signed out everywhere."
