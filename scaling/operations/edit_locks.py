"""The locks of several edits in one transaction, taken before the first of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from scaling.models import Group, Marker, QuotaPool


def lock_for_edits(edits: Sequence[tuple[Group, Mapping[str, Any]]]) -> None:
    """Lock all rows that several `set_group_limits` in one transaction will: (group, what it changes) for each.

    Each by itself locks its group, markers and pool; one after the other they would come to a group after a pool,
    against the order of locks (docs/architecture.md).
    """
    groups = [group.pk for group, _ in edits]
    pools = {values["quota_pool"] for _, values in edits if values.get("quota_pool")}
    list(Group.objects.filter(pk__in=groups).order_by("name").select_for_update(no_key=True))
    waiting = Marker.objects.filter(group__in=groups, closed_at=None, kind=Marker.Kind.PERMANENT)
    list(waiting.order_by("pk").select_for_update(no_key=True))
    if pools:
        list(QuotaPool.objects.filter(name__in=pools).order_by("name").select_for_update(no_key=True))
