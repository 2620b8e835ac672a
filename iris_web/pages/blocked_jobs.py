"""How many jobs a group keeps waiting, from what the planner told each of them."""

import json

from django.db import connection
from django.db.models import TextField, Value
from django.db.models.functions import Cast, StrIndex

from scaling.models import Hint


def jobs_blocked_by(name: str) -> int:
    """The jobs that the last cycle told that this group blocks them. One query, through all hints.

    No index leads into what blocks a job, so that this is asked for one group alone, as an exact piece of the stored
    text. Both databases write it so, but that SQLite holds it in ASCII.
    """
    written = json.dumps(name, ensure_ascii=connection.vendor == "sqlite")
    text = StrIndex(Cast("blocked_by", TextField()), Value(f'"group": {written}'))
    return Hint.objects.annotate(named=text).filter(named__gt=0).count()
