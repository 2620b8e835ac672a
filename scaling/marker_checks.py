"""Keeps a group's record in step with its markers between cycles, so that every page tells a fresh one at once.

A cycle evaluates all groups. An answer to a create, and a person who clears or holds a marker, changes one in between:
then the checks that markers decide are judged again, by the planner's own rules and with what the last cycle found left
in the group's pool. The other checks stay as that cycle found them. What the marker means for other groups of its pool,
and for the hints of jobs, the next cycle tells.
"""

from collections.abc import Container
from typing import Any

from scaling import clock, records
from scaling.autoscaler.books import Books
from scaling.autoscaler.evaluation import evaluate
from scaling.autoscaler.models import Check, ClusterState, GroupEvaluation, Outcome, QuotaPool
from scaling.models import Group, GroupStatus, Marker, Slice
from scaling.moments import moment, seconds

BY_MARKERS = frozenset(
    {Outcome.CREATE_REFUSED, Outcome.QUOTA_EXCEEDED, Outcome.BACKOFF, Outcome.STOCKOUT, Outcome.TIER_BLOCKED}
)


def judge_again(group: Group) -> None:
    """Write what the open markers mean for the group into its record, in the caller's transaction; a few statements.

    The record is locked, last in the order of locks. A group that no cycle has seen yet has none.
    """
    status = locked_record(group)
    if status is None:
        return
    found = _evaluate(group, status.quota_remaining)
    judged = BY_MARKERS if _probes(group) else BY_MARKERS | {Outcome.PROBING}
    GroupStatus.objects.filter(pk=group.pk).update(
        **told_anew(status, found, judged),
        backoff_expires_at=moment(found.backoff_expires_at),
        stockout_until=moment(found.stockout_until),
    )


def locked_record(group: Group) -> GroupStatus | None:
    """The record of a group that a cycle has seen, locked."""
    status = GroupStatus.objects.select_for_update(no_key=True).filter(pk=group.pk).first()
    return status if status is not None and status.checks else None


def told_anew(status: GroupStatus, found: GroupEvaluation, judged: Container[Outcome]) -> dict[str, Any]:
    """Checks, outcome and detail of a record, with the `judged` checks as found and the others as they stand in it."""
    fresh = {check.outcome.value: stored_check(check) for check in found.checks if check.outcome in judged}
    checks: list[dict[str, Any]] = [fresh.get(check["outcome"], check) for check in status.checks]
    first = next((check for check in checks if check["blocked"]), None)
    return {
        "checks": checks,
        "outcome": first["outcome"] if first else Outcome.AVAILABLE.value,
        "detail": first["detail"] if first else "",
    }


def stored_check(check: Check) -> dict[str, Any]:
    """A verdict of the filter chain as the group's record keeps it."""
    until = moment(check.until)
    return {
        "outcome": check.outcome.value,
        "blocked": check.blocked,
        "detail": check.detail,
        "until": until.isoformat() if until else None,
    }


def _evaluate(group: Group, remaining: int | None) -> GroupEvaluation:
    """The group judged beside those it shares a pool with: any of them may close its tier."""
    groups, pools = [group], {}
    if group.quota_pool is not None:
        groups = list(Group.objects.filter(quota_pool=group.quota_pool).select_related("platform", "quota_pool"))
        # Without slices in these books, what is left is the whole limit.
        pools = {group.quota_pool.name: QuotaPool(group.quota_pool.name, remaining)}
    rows = list(Marker.objects.filter(group__in=groups, closed_at__isnull=True).select_related("group"))
    state = ClusterState(
        groups={row.name: records.group_record(row) for row in groups}, pools=pools, markers=records.open_markers(rows)
    )
    evaluations, _ = evaluate(Books(state, seconds(clock.now())))
    return evaluations[group.name]


def _probes(group: Group) -> bool:
    """Whether a marker is still put to the test by a slice under way, so that what the cycle found of it holds."""
    open_ones = group.markers.filter(closed_at__isnull=True).exclude(kind=Marker.Kind.PERMANENT)
    in_flight = (Slice.State.REQUESTING, Slice.State.BOOTING)
    under_way = Slice.objects.filter(group=group, is_probe=True, state__in=in_flight)
    return under_way.exists() and open_ones.exists()
