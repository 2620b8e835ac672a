"""Operators' "scale now": carried out by the scaler's ticks until it is reached or its time is over."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from scaling.counting import counted
from scaling.history import NewAction, record_many
from scaling.loops.replicas.held import HeldScaler
from scaling.loops.replicas.outcome import Ticked
from scaling.models import Deployment
from scaling.operations.deployments import ORDER_OVER
from scaling.replicas.decision import Outcome
from scaling.replicas.deployment import Deployment as Settings
from scaling.replicas.manual import Order, is_reached, without_pause
from scaling.replicas.memory import ZeroBy, not_yet_listed
from scaling.replicas.replica import muster


def order_of(held: HeldScaler, now: float) -> Order | None:
    """The order that holds at `now`; one held at zero by an operator is ordered to zero until it is woken."""
    row = held.deployment
    until = row.wanted_until
    if row.wanted_replicas is not None and (until is None or now < until.timestamp()):
        return Order(row.wanted_replicas, row.wanted_by)
    return Order(0, "an operator") if held.memory.zero_by is ZeroBy.OPERATOR else None


def unpaused(current: Settings, order: Order | None) -> Settings:
    """A person's order goes past a person's pause."""
    return without_pause(current) if order is not None else current


@transaction.atomic
def close_reached(ticks: Sequence[Ticked], at: datetime) -> None:
    """End the orders that are reached, and those whose time is over, each with an Action."""
    ended = [(one, outcome) for one in ticks if (outcome := _outcome(one, at))]
    told: list[NewAction] = []
    for one, outcome in ended:
        row = one.held.deployment
        same = Deployment.objects.filter(pk=one.row.deployment_pk, wanted_action_id=row.wanted_action_id)
        if same.update(**ORDER_OVER):
            words = f"{counted(row.wanted_replicas or 0, 'replica')}, as {row.wanted_by} asked: {outcome}"
            target = f"deployment {row.deployment_id}"
            told.append(
                NewAction("scale_done", target=target, reason=words, outcome=outcome, cause=row.wanted_action_id)
            )
    record_many(told)


def _outcome(one: Ticked, at: datetime) -> str:
    """`reached`, `expired`, or "" while there is nothing to end."""
    row = one.held.deployment
    if row.wanted_replicas is None:
        return ""
    if row.wanted_until is not None and at >= row.wanted_until:
        return "expired"
    if one.replicas is None or one.decision.outcome is Outcome.REFUSED or one.decision.sent:
        return ""
    memory = one.held.memory
    listed = frozenset(replica.id for replica in one.replicas)
    asked = not_yet_listed(memory.asked, listed, one.decision.at)
    roster = muster(one.replicas, one.held.settings, one.decision.at, asked)
    return "reached" if is_reached(row.wanted_replicas, roster) else ""
