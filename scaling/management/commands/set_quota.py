"""`manage.py set_quota POOL FIELD=VALUE ... [--reason TEXT]`: change a quota pool."""

from typing import Any

from django.db import transaction

from scaling.history import Actor
from scaling.management.shell_acts import ShellEdit
from scaling.models import QuotaPool
from scaling.operations import POOL_FIELDS, set_quota_pool
from scaling.operations.changes import find


class Command(ShellEdit):
    help = "Changes the limit or the metric of a quota pool."
    table = POOL_FIELDS
    metavar = "POOL"

    def act(self, actor: Actor, options: dict[str, Any]) -> str:
        with transaction.atomic():
            row = find(QuotaPool, "name", options["name"])
            set_quota_pool(actor, options["name"], row.version, self.changes(options), options["reason"])
        return f"quota pool {row} is changed: {', '.join(options['fields'])}"
