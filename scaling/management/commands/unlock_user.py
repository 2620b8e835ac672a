"""`manage.py unlock_user NAME`: forget the wrong passwords that somebody gave for this name, from every address."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User

from scaling import people
from scaling.history import Actor
from scaling.management.shell_acts import ShellAct
from scaling.operations import NotFound
from scaling.operations.fields import nearest


class Command(ShellAct):
    help = "Lets a person try their password again at once, after too many wrong ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            near = nearest(options["name"], User.objects.values_list("username", flat=True))
            raise NotFound(f"nobody is named {options['name']} here{near}")
        people.unlock(actor, user)
        return f"{user.username} may try again"
