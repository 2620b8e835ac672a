"""How the instances together see a source: each notes its own answer, and those that are gone count no more."""

from collections.abc import Iterable
from datetime import timedelta

from scaling.models import SourceState

# Instances ask every few seconds: one that asked so much earlier than the latest has ended.
BEHIND = timedelta(minutes=2)


def current(rows: Iterable[SourceState]) -> dict[str, list[SourceState]]:
    """The rows that count, by source: trouble first, the longest first; then who asked last."""
    found: dict[str, list[SourceState]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row)
    for name, seen in found.items():
        latest = max(row.asked_at for row in seen)
        counted = [row for row in seen if latest - row.asked_at <= BEHIND]
        found[name] = sorted(counted, key=_rank)
    return found


def _rank(row: SourceState) -> tuple[bool, float, str]:
    moment = row.since.timestamp() if row.trouble else -row.asked_at.timestamp()
    return not row.trouble, moment, row.instance


def by_source() -> dict[str, list[SourceState]]:
    """One query."""
    return current(SourceState.objects.order_by("name", "instance"))


def worst() -> dict[str, SourceState]:
    """One row for each source: the longest trouble that an instance sees, else the latest answer. One query."""
    return {name: rows[0] for name, rows in by_source().items()}
