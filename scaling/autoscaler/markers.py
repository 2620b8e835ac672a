"""Markers: how long a failure keeps a group closed, and what forgets it (AUTOSCALER sections 1, 4 and 5)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from scaling.autoscaler.failure_rules import Failure, FailureClass
from scaling.autoscaler.models import BackoffMemory, Marker, MarkerKind, QuotaPool, Slice

STOCKOUT_SECONDS = 900.0
BACKOFF_FIRST_SECONDS = 30.0
BACKOFF_MOST_SECONDS = 900.0
QUOTA_SECONDS = 300.0
QUOTA_OF_ZERO_SECONDS = 3600.0
BACKOFF_FORGOTTEN_SECONDS = 3 * 3600.0
STABLE_SECONDS = 600.0
LIMIT_FORGOTTEN_SECONDS = 24 * 3600.0

KIND_OF: dict[FailureClass, MarkerKind] = {
    FailureClass.STOCKOUT: MarkerKind.STOCKOUT,
    FailureClass.TRANSIENT: MarkerKind.BACKOFF,
    FailureClass.QUOTA: MarkerKind.QUOTA,
    FailureClass.PERMANENT: MarkerKind.PERMANENT,
}
# A success clears these; `permanent` waits for an edit or an operator.
CLEARED_BY_SUCCESS = (MarkerKind.STOCKOUT, MarkerKind.BACKOFF, MarkerKind.QUOTA)


def after_failure(
    group: str, failure: Failure, markers: Mapping[MarkerKind, Marker], memory: BackoffMemory, now: float
) -> tuple[Marker, BackoffMemory]:
    """The marker that a failure leaves on its group, and the group's back-off count after it."""
    kind = KIND_OF[failure.failure_class]
    old = markers.get(kind)
    if kind is MarkerKind.BACKOFF:
        return _after_transient(group, failure, old, memory, now)
    needs_person = kind is MarkerKind.PERMANENT or failure.limit == 0
    fresh = Marker(
        group=group,
        kind=kind,
        since=now,
        until=_until(kind, failure, now),
        error=failure.text,
        last_failure=now,
        needs_person=needs_person,
    )
    return (_renewed(old, fresh, now) if old else fresh), memory


def _until(kind: MarkerKind, failure: Failure, now: float) -> float | None:
    if kind is MarkerKind.PERMANENT:
        return None
    if kind is MarkerKind.STOCKOUT:
        return now + STOCKOUT_SECONDS
    return now + (QUOTA_OF_ZERO_SECONDS if failure.limit == 0 else QUOTA_SECONDS)


def _renewed(old: Marker, fresh: Marker, now: float) -> Marker:
    """A failure on top of an open marker: one still active goes on (never shorter), one that ran out starts anew."""
    renewed = replace(fresh, failures=old.failures + 1)
    if not old.active(now):
        return renewed
    until = None if old.until is None or fresh.until is None else max(old.until, fresh.until)
    return replace(
        renewed,
        since=old.since,
        until=until,
        needs_person=old.needs_person or fresh.needs_person,
        acknowledged_at=old.acknowledged_at,
        acknowledged_by=old.acknowledged_by,
        acknowledged_note=old.acknowledged_note,
    )


def _after_transient(
    group: str, failure: Failure, old: Marker | None, memory: BackoffMemory, now: float
) -> tuple[Marker, BackoffMemory]:
    """30 s, doubled for each failure after the previous one ran out; while it is active failures count once."""
    if old is not None and old.active(now):
        return replace(old, error=failure.text, last_failure=now), replace(memory, last_failure=now)
    failures = still_counted(memory, now) + 1
    marker = Marker(
        group=group,
        kind=MarkerKind.BACKOFF,
        since=now,
        until=now + backoff_seconds(failures),
        error=failure.text,
        failures=failures,
        last_failure=now,
    )
    return marker, BackoffMemory(failures, now)


def backoff_seconds(failures: int) -> float:
    """How long the n-th counted failure closes a group: 30, 60, 120 ... at most 900 s."""
    return min(BACKOFF_FIRST_SECONDS * 2.0 ** min(failures - 1, 10), BACKOFF_MOST_SECONDS)


def failures_behind(since: float, until: float | None) -> int:
    """How many counted failures a back-off of that length stands for; 1 where no count of them gives it."""
    for failures in range(1, 7):
        if until is not None and until - since == backoff_seconds(failures):
            return failures
    return 1


def still_counted(memory: BackoffMemory, now: float) -> int:
    """The failures that still count; three hours without one forget them."""
    if memory.last_failure is None or now - memory.last_failure >= BACKOFF_FORGOTTEN_SECONDS:
        return 0
    return memory.failures


def proves_stable(slice_: Slice, memory: BackoffMemory, now: float) -> bool:
    """Whether the slice, since the last failure, has come to be READY for 10 minutes: then the count starts again."""
    if slice_.ready_since is None or memory.last_failure is None:
        return False
    return memory.last_failure < slice_.ready_since + STABLE_SECONDS <= now


def cleared_by(slice_: Slice, markers: Iterable[Marker]) -> tuple[MarkerKind, ...]:
    """The kinds of markers that this slice, just READY, takes away: those whose failures came before its request."""
    asked = max(slice_.created, slice_.sent_at or slice_.created) if slice_.probe else slice_.created
    return tuple(m.kind for m in markers if m.kind in CLEARED_BY_SUCCESS and asked > m.failed_at)


# -- learned limits


def learned(pool: QuotaPool, failure: Failure, now: float) -> QuotaPool:
    """The pool with the limit that a refusal tells, if it names the pool's own metric; 0 is never learned."""
    if failure.failure_class is not FailureClass.QUOTA or not failure.limit or int(failure.limit) < 1:
        return pool
    if not _names(failure, pool.quota_metric):
        return pool
    return replace(pool, learned_limit=int(failure.limit), learned_at=now)


def _names(failure: Failure, metric: str) -> bool:
    """Whether the refusal names this metric: as the one it is about, or (where it names none) as a whole word."""
    if not metric:
        return False
    if failure.metric is not None:
        return failure.metric.lower() == metric.lower()
    return re.search(rf"(?<![\w.-]){re.escape(metric)}(?![\w-])", failure.text, re.IGNORECASE) is not None


def without_old_limit(pool: QuotaPool, now: float) -> QuotaPool:
    """The pool without a learned limit that is 24 hours old."""
    if pool.learned_at is not None and now - pool.learned_at >= LIMIT_FORGOTTEN_SECONDS:
        return replace(pool, learned_limit=None, learned_at=None)
    return pool


def limit_of(pool: QuotaPool) -> int | None:
    """The limit in force: the learned one wins while it is lower; None = not limited."""
    known = [limit for limit in (pool.limit, pool.learned_limit) if limit is not None]
    return min(known) if known else None
