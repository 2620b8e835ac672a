"""`manage.py set_targets DEPLOYMENT FIELD=VALUE ... [--reason TEXT]`: settings in place of the Gateway's."""

from typing import Any

from django.db import transaction

from scaling.history import Actor
from scaling.management.shell_acts import ShellEdit
from scaling.models import Deployment
from scaling.operations import EDIT_FIELDS, edit_deployment
from scaling.operations.changes import find


class Command(ShellEdit):
    help = "Sets what counts in place of the Gateway's settings; an empty value gives it its place back."
    table = EDIT_FIELDS
    metavar = "DEPLOYMENT"

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        with transaction.atomic():
            row = find(Deployment, "deployment_id", options["name"])
            edit_deployment(actor, options["name"], row.version, self.changes(options), options["reason"])
        return f"deployment {row} is changed: {', '.join(options['fields'])}"
