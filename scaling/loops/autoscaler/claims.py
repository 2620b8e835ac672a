"""Makes this process the one that asks a platform for, or to end, some slices.

A claim runs out when no answer was saved for two time-outs: the process that held it has died, and another may ask.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from scaling import clock
from scaling.models import Slice


def claim(due: QuerySet[Slice], most: int, **fields: Any) -> list[Slice]:
    """At most so many of the due rows, as they were, with `fields` written; inside the caller's transaction."""
    rows = list(due.select_for_update(of=("self",), no_key=True, skip_locked=_skips_locked())[:most])
    ends = clock.now() + timedelta(seconds=2 * settings.IRIS_PLATFORM_TIMEOUT)
    Slice.objects.filter(pk__in=[row.pk for row in rows]).update(next_attempt_at=ends, **fields)
    return rows


def _skips_locked() -> bool:
    # On SQLite a writing transaction is alone anyway.
    return connection.features.has_select_for_update_skip_locked
