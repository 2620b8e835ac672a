"""`manage.py set_limits GROUP FIELD=VALUE ... [--reason TEXT]`: change a group's limits."""

from typing import Any

from django.db import transaction

from scaling.history import Actor
from scaling.management.shell_acts import ShellEdit
from scaling.models import Group
from scaling.operations import LIMIT_FIELDS, set_group_limits
from scaling.operations.changes import find


class Command(ShellEdit):
    help = "Changes limits, order, windows, rates, pool or price of a group."
    table = LIMIT_FIELDS
    metavar = "GROUP"

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        with transaction.atomic():
            row = find(Group, "name", options["name"])
            set_group_limits(actor, options["name"], row.version, self.changes(options), options["reason"])
        return f"group {row} is changed: {', '.join(options['fields'])}"
