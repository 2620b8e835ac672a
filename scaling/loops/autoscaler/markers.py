"""Stores the difference between two sets of open markers: cycles and answers to creates both make it."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import F

from scaling import feed
from scaling.autoscaler.models import Marker as Record
from scaling.autoscaler.models import MarkerKind
from scaling.models import Marker
from scaling.moments import moment

Key = tuple[str, MarkerKind]


def store_markers(
    before: Mapping[Key, Record], after: Mapping[Key, Record], group_pks: Mapping[str, int], now: datetime
) -> None:
    """Open, change and close rows; what an operator changed meanwhile (acknowledgement) is never written over."""
    touched = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    for group, kind in sorted(touched):
        rows = Marker.objects.filter(group_id=group_pks[group], kind=kind.value, closed_at__isnull=True)
        record, known = after.get((group, kind)), before.get((group, kind))
        if record is None:
            rows.update(closed_at=now, closed_by="iris", closed_reason=_closed_reason(known), version=F("version") + 1)
        elif known is None or not rows.update(**_failure(record), version=F("version") + 1):
            Marker.objects.create(group_id=group_pks[group], kind=kind.value, **_failure(record))
        feed.publish_many(
            (topic, "marker", {"group": group, "kind": kind.value}) for topic in ("markers", f"group:{group}")
        )


def _closed_reason(known: Record | None) -> str:
    return "cleared by a success" if known and known.kind is not MarkerKind.PERMANENT else "cleared"


def _failure(record: Record) -> dict[str, object]:
    return {
        "since": moment(record.since),
        "until": moment(record.until),
        "message": record.error,
        "failures": record.failures,
        "last_failure_at": moment(record.failed_at),
        "needs_person": record.needs_person,
    }
