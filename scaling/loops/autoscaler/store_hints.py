"""Stores the hints of a cycle: only what changed is written, and a change of code is said once in the log."""

import logging
from functools import lru_cache

from scaling import feed
from scaling.autoscaler.models import CycleResult, PendingHint
from scaling.loops.autoscaler.demand import job_of
from scaling.loops.autoscaler.moments import moment
from scaling.loops.autoscaler.snapshot import Snapshot, StoredHint
from scaling.models import Hint

logger = logging.getLogger("scaling.autoscaler")

_ROWS = 500
# A burst of jobs says itself through its counters; beyond this many changed jobs pages look at `jobs` alone.
_EVENTS = 200


def store_hints(result: CycleResult, before: Snapshot) -> None:
    rows = {before.job_pks[hint.job_id]: hint for hint in result.hints if hint.job_id in before.job_pks}
    changed = {pk: hint for pk, hint in rows.items() if _differs(before.hints.get(pk), hint)}
    gone = [pk for pk in before.hints if pk not in rows]
    for start in range(0, len(gone), 10_000):
        Hint.objects.filter(pk__in=gone[start : start + 10_000]).delete()
    Hint.objects.bulk_create(
        [_row(pk, hint) for pk, hint in changed.items()],
        batch_size=_ROWS,
        update_conflicts=True,
        unique_fields=["job"],
        update_fields=["code", "reason", "blocked_by", "since"],
    )
    _say(before, changed)
    if changed or gone:
        feed.publish("jobs", "hints", {"changed": len(changed), "cleared": len(gone)})
        feed.publish_many(
            (feed.job_topic(*job_of(hint.job_id)), "hint", {"code": hint.code})
            for hint in list(changed.values())[:_EVENTS]
        )


def _differs(stored: StoredHint | None, hint: PendingHint) -> bool:
    return (
        stored is None
        or stored.code != hint.code
        or stored.reason != hint.reason
        or stored.blocked_by != _blocked_by(hint)
    )


def _row(pk: int, hint: PendingHint) -> Hint:
    return Hint(job_id=pk, code=hint.code, reason=hint.reason, blocked_by=_blocked_by(hint), since=moment(hint.since))


def _blocked_by(hint: PendingHint) -> list[dict[str, object]]:
    return [{"group": by.group, "outcome": by.outcome, "until": _iso(by.until)} for by in hint.blocked_by]


@lru_cache(maxsize=1024)
def _iso(until: float | None) -> str | None:
    """ISO 8601 UTC; many hints tell of the same few ends."""
    return None if until is None else moment(until).isoformat()


def _say(before: Snapshot, changed: dict[int, PendingHint]) -> None:
    for pk, hint in changed.items():
        stored = before.hints.get(pk)
        if hint.unsatisfied and (stored is None or stored.code != hint.code):
            logger.info(hint.log_line)
