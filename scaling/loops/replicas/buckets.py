"""Learns now and then, outside of any tick, what the latency histogram can tell, for the check of settings."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from scaling.loops.replicas import source_states
from scaling.loops.replicas.deadlines import Deadline
from scaling.models import SourceState
from scaling.sources import configured

EVERY, AGAIN = timedelta(hours=1), timedelta(minutes=30)
_ASK_SECONDS = 2.0


def learn(now: datetime, deadline: Deadline) -> None:
    """Ask for the last finite bucket, every hour, sooner where it was not told, and only while Prometheus answers."""
    rows = SourceState.objects.filter(name=source_states.PROMETHEUS, trouble="")
    row = rows.order_by("-asked_at").first()
    if row is None or not _is_due(row.facts, now):
        return
    last = configured.prometheus().last_bucket_ms(min(_ASK_SECONDS, deadline.left()))
    facts = {**row.facts, "asked_at": now.timestamp()} | ({} if last is None else {"last_bucket_ms": last})
    SourceState.objects.filter(pk=row.pk).update(facts=facts)


def _is_due(facts: Mapping[str, Any], now: datetime) -> bool:
    asked_at, waits = facts.get("asked_at"), EVERY if "last_bucket_ms" in facts else AGAIN
    return asked_at is None or not 0 <= now.timestamp() - asked_at < waits.total_seconds()
