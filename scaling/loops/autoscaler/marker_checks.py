"""Keeps a group's record in step with its markers between cycles, so that every page tells a fresh one at once.

A cycle evaluates all groups. An answer to a create, and a person who clears or holds a marker, changes one in between:
then the checks that the group's own markers decide are judged again, by the planner's own rules. The others stay as the
last cycle found them, and what the marker means for other groups of its pool the next cycle tells.
"""

from typing import Any

from scaling import clock
from scaling.autoscaler.books import Books
from scaling.autoscaler.evaluation import evaluate
from scaling.autoscaler.models import ClusterState, GroupEvaluation, Outcome
from scaling.loops.autoscaler import records
from scaling.loops.autoscaler.moments import moment, seconds
from scaling.loops.autoscaler.store_groups import stored_check
from scaling.models import Group, GroupStatus, Marker

BY_MARKERS = frozenset({Outcome.CREATE_REFUSED, Outcome.QUOTA_EXCEEDED, Outcome.BACKOFF, Outcome.STOCKOUT})


def judge_again(group: Group) -> None:
    """Write what the open markers of the group mean into its record, in the caller's transaction; four statements.

    The markers are locked before the record, as in a cycle. A group that no cycle has seen yet has no record.
    """
    status = GroupStatus.objects.filter(pk=group.pk).first()
    if status is None or not status.checks:
        return
    found = _evaluate(group)
    short = status.quota_remaining is not None and status.quota_remaining < records.group_record(group).slice_cost
    kept = BY_MARKERS - ({Outcome.QUOTA_EXCEEDED} if short else set())
    fresh = {check.outcome.value: stored_check(check) for check in found.checks if check.outcome in kept}
    checks: list[dict[str, Any]] = [fresh.get(check["outcome"], check) for check in status.checks]
    first = next((check for check in checks if check["blocked"]), None)
    GroupStatus.objects.filter(pk=group.pk).update(
        checks=checks,
        outcome=first["outcome"] if first else Outcome.AVAILABLE.value,
        detail=first["detail"] if first else "",
        backoff_expires_at=moment(found.backoff_expires_at),
        stockout_until=moment(found.stockout_until),
    )


def _evaluate(group: Group) -> GroupEvaluation:
    """The group judged by itself: by its limits and its markers alone."""
    rows = list(Marker.objects.filter(group=group, closed_at__isnull=True).select_related("group"))
    state = ClusterState(groups={group.name: records.group_record(group)}, markers=records.open_markers(rows))
    evaluations, _ = evaluate(Books(state, seconds(clock.now())))
    return evaluations[group.name]
