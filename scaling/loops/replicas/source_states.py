"""Keeps how each source answered this instance last, and tells the pages when that changes.

Each instance has a row of its own: two that see a source differently (a network that is cut in half) are both right.
The instance is this process's, whose network it is, also where it runs a round of another one.
"""

import logging
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings

from scaling import feed
from scaling.models import SourceState

logger = logging.getLogger(__name__)

GATEWAY = "gateway"
PROMETHEUS = "prometheus"
_TROUBLE_CHARACTERS = 500
_MOST_WARNINGS = 10


def note(name: str, now: datetime, trouble: str = "", warnings: Sequence[str] | None = (), stand_in: str = "") -> None:
    """Write down how the source answered at `now`; said aloud (log and feed) only when it is news.

    `trouble` is a sentence, empty when it answered well. `warnings` None: another loop's stay.
    """
    asked_by = settings.IRIS_INSTANCE
    trouble = trouble[:_TROUBLE_CHARACTERS]
    before = SourceState.objects.filter(name=name, instance=asked_by).first()
    kept = before.warnings if before else []
    told = kept if warnings is None else [text[:_TROUBLE_CHARACTERS] for text in warnings[:_MOST_WARNINGS]]
    is_news = before is None or (before.trouble, before.warnings, before.stand_in) != (trouble, told, stand_in)
    turned = before is None or bool(before.trouble) != bool(trouble)
    values = {"trouble": trouble, "warnings": told, "asked_at": now, "stand_in": stand_in}
    values |= {"since": now} if turned else {}
    values |= {} if trouble else {"ok_at": now}
    SourceState.objects.update_or_create(
        name=name, instance=asked_by, defaults=values, create_defaults={"since": now, **values}
    )
    if is_news:
        feed.publish("sources", "state", {"name": name, "instance": asked_by, "trouble": trouble})
    if turned and (before is not None or trouble):
        level = logging.WARNING if trouble else logging.INFO
        words = "source in trouble" if trouble else "source answers again"
        logger.log(level, words, extra={"source": name, "instance": asked_by, "trouble": trouble})
