"""Keeps a group's record in step with what people order of it between cycles: draining and pausing.

As scaling.marker_checks does for markers: the two checks are judged again by the planner's own rules, and everything
that reads the record (pages, filters, API, metrics) tells the order from the moment it is given. The planner reads the
orders themselves, never the record. Nothing is written when a pause runs out: the next cycle tells that.
"""

from scaling import clock, records
from scaling.autoscaler.books import Books
from scaling.autoscaler.evaluation import evaluate
from scaling.autoscaler.models import ClusterState, Outcome
from scaling.marker_checks import locked_record, told_anew
from scaling.models import Group, GroupStatus, Installation
from scaling.moments import seconds

BY_ORDERS = frozenset({Outcome.DRAINING, Outcome.PAUSED})


def judge_orders(group: Group) -> None:
    """Write the orders that `group` holds into its record, in the caller's transaction, which has the group locked."""
    status = locked_record(group)
    if status is None:
        return
    installation = Installation.objects.first()
    state = ClusterState(
        groups={group.name: records.group_record(group)},
        controls={group.name: records.control_record(group, None)},
        halted=records.halt_record(installation) if installation else None,
    )
    evaluations, _ = evaluate(Books(state, seconds(clock.now())))
    GroupStatus.objects.filter(pk=group.pk).update(**told_anew(status, evaluations[group.name], BY_ORDERS))
