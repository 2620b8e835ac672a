"""Stores the hints of a cycle: only what changed is written, and a change of code is said once in the log."""

import logging
from functools import lru_cache
from typing import Any

from scaling import feed, prepared
from scaling.autoscaler.models import BlockedBy, CycleResult, PendingHint
from scaling.loops.autoscaler.demand import job_of
from scaling.loops.autoscaler.snapshot import Snapshot, StoredHint
from scaling.models import Hint
from scaling.moments import moment

logger = logging.getLogger("scaling.autoscaler")

_FIELDS = ("job", "code", "reason", "blocked_by", "since")
# A burst of jobs says itself through its counters; beyond this many changed jobs pages look at `jobs` alone.
_EVENTS = 200


def store_hints(result: CycleResult, before: Snapshot) -> None:
    rows = {before.job_pks[hint.job_id]: hint for hint in result.hints if hint.job_id in before.job_pks}
    changed = {pk: hint for pk, hint in rows.items() if _differs(before.hints.get(pk), hint)}
    gone = [pk for pk in before.hints if pk not in rows]
    for start in range(0, len(gone), 10_000):
        Hint.objects.filter(pk__in=gone[start : start + 10_000]).delete()
    prepared.upsert(Hint, _FIELDS, [_values(pk, hint) for pk, hint in changed.items()])
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
        or stored.blocked_by != _blocked_by(hint.blocked_by)
    )


def _values(pk: int, hint: PendingHint) -> tuple[Any, ...]:
    return pk, hint.code, hint.reason, _blocked_by(hint.blocked_by), moment(hint.since)


@lru_cache(maxsize=4096)
def _blocked_by(blocks: tuple[BlockedBy, ...]) -> list[dict[str, object]]:
    """Shared by the hints of all jobs that the same groups block; nobody changes it."""
    return [{"group": by.group, "outcome": by.outcome, "until": _iso(by.until)} for by in blocks]


@lru_cache(maxsize=1024)
def _iso(until: float | None) -> str | None:
    """ISO 8601 UTC; many hints tell of the same few ends."""
    return None if until is None else moment(until).isoformat()


def _say(before: Snapshot, changed: dict[int, PendingHint]) -> None:
    for pk, hint in changed.items():
        stored = before.hints.get(pk)
        if hint.unsatisfied and (stored is None or stored.code != hint.code):
            logger.info(hint.log_line)
