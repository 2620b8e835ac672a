"""What a tick leaves to be read later: decisions worth storing, points of the charts, the history, the feed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from scaling import feed, prepared
from scaling.history import NewAction, record_many
from scaling.loops.replicas.outcome import Ticked, is_worth_telling
from scaling.models import Action, DeploymentSample, ReplicaDecision
from scaling.replicas.decision import Decision, Outcome, Step
from scaling.replicas.stored import decision_to_mapping

# At most this many decisions a second are stored (REPLICAS section 4); the rest is counted.
MOST_A_SECOND = 100
_REASON_CHARACTERS = 500
# A point of the charts every so often; the larger the fleet, the fewer.
SAMPLE_SECONDS = 15
SAMPLE_SECONDS_OF_LARGE = 60
LARGE_FLEET = 500


def choose_told(ticks: Sequence[Ticked], now: datetime, tick_seconds: float) -> None:
    """Mark the decisions to store; those with an act go first, and what is over the limit is counted."""
    worth = sorted((one for one in ticks if is_worth_telling(one, now)), key=lambda one: not one.decision.sent)
    limit = max(1, round(MOST_A_SECOND * tick_seconds))
    for one in worth[:limit]:
        one.tell = True
    for one in worth[limit:]:
        one.untold = True


def store_decisions(ticks: Sequence[Ticked]) -> None:
    """Store the marked decisions and tell their pages."""
    told = [one for one in ticks if one.tell]
    prepared.insert([_row(one) for one in told])
    feed.publish_many([feed.NewEvent(f"deployment:{one.held.id}", "decision", {"id": one.held.id}) for one in told])


def _row(one: Ticked) -> ReplicaDecision:
    decision, counts = one.decision, one.decision.counts
    return ReplicaDecision(
        deployment_id=one.row.deployment_pk,
        at=moment(decision.at),
        gate=decision.gate or "",
        bound=decision.bound or "",
        step=decision.step,
        outcome=decision.outcome,
        reason=decision.reason[:_REASON_CHARACTERS],
        healthy=counts.healthy if counts else None,
        warming=counts.warming if counts else None,
        desired=decision.desired,
        add=decision.add,
        stop=len(decision.stop),
        action_id=one.action_id,
        record={**decision_to_mapping(decision), "message": one.message},
    )


def store_samples(ticks: Sequence[Ticked], now: datetime) -> None:
    """A point for each deployment's charts, once in every slot of time; the slots of a large fleet begin in turns."""
    is_large = len(ticks) > LARGE_FLEET
    every = SAMPLE_SECONDS_OF_LARGE if is_large else SAMPLE_SECONDS
    due = [
        one
        for one in ticks
        if one.decision.counts is not None
        and _is_new_slot(one.row.ticked_at, now, every, one.row.deployment_pk % every if is_large else 0)
    ]
    prepared.insert([_sample(one, now) for one in due])


def _is_new_slot(before: datetime | None, now: datetime, every_seconds: int, turn: int) -> bool:
    if before is None:
        return True
    return (before.timestamp() + turn) // every_seconds != (now.timestamp() + turn) // every_seconds


def _sample(one: Ticked, now: datetime) -> DeploymentSample:
    decision = one.decision
    return DeploymentSample(
        deployment_id=one.row.deployment_pk,
        at=now,
        p95_ms=_finite(decision.metrics.p95.value),
        rps=_finite(decision.metrics.rps.value),
        healthy=decision.counts.healthy if decision.counts else None,
        warming=decision.counts.warming if decision.counts else None,
        desired=decision.desired,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and 0 <= value < float("inf") else None


def record_intents(ticks: Sequence[Ticked], now: datetime) -> None:
    """An Action for every call that is about to be sent, with its id in the tick.

    A call that is refused again and again is one act, not one per tick: its Action stays the first one's.
    """
    new = [one for one in ticks if not one.repeated]
    for one, action in zip(new, record_many([_intent(one, now) for one in new]), strict=True):
        one.action_id = action.pk


def _intent(one: Ticked, now: datetime) -> NewAction:
    decision, counts = one.decision, one.decision.counts
    wanted = one.held.deployment.wanted_action_id if decision.step is Step.MANUAL else None
    return NewAction(
        "scale_replicas",
        target=f"deployment {one.held.id}",
        reason=decision.reason[:_REASON_CHARACTERS],
        outcome="sent",
        before={"healthy": counts.healthy, "warming": counts.warming} if counts else None,
        after={"add": decision.add, "stop": list(decision.stop)},
        cause=wanted,
        at=now,
    )


def record_answers(ticks: Sequence[Ticked], now: datetime) -> None:
    """What came back, as an effect of its intent; the same refusal again is not told again."""
    told = [one for one in ticks if not (one.repeated and one.decision.outcome is Outcome.REFUSED)]
    record_many([_answer(one, now) for one in told])


def _answer(one: Ticked, now: datetime) -> NewAction:
    return NewAction(
        "scale_answer",
        target=f"deployment {one.held.id}",
        reason=one.message[:_REASON_CHARACTERS],
        outcome=one.decision.outcome.value,
        cause=one.action_id,
        at=now,
    )


def record_unknown(pending: Sequence[tuple[str, dict[str, Any]]], now: datetime) -> None:
    """Calls whose control plane ended before the answer: (deployment, what was written down before sending)."""
    words = "the control plane ended before the answer came; the call counts as done"
    told = [(f"deployment {id_}", call) for id_, call in pending]
    record_many(
        [
            NewAction(
                "scale_answer", target=target, reason=words, outcome="unknown", cause=_intent_of(target, call), at=now
            )
            for target, call in told
        ]
    )


def _intent_of(target: str, call: dict[str, Any]) -> int | None:
    """The Action of a call that was written down in the same transaction, and so at the same time."""
    if call.get("action"):
        return int(call["action"])
    written = Action.objects.filter(kind="scale_replicas", target=target, at=moment(call["at"]))
    first: int | None = written.values_list("pk", flat=True).first()
    return first


def is_repeated(decision: Decision, latest: dict[str, Any]) -> bool:
    """Whether the same call was refused in the tick before."""
    same = (latest.get("add"), latest.get("stop")) == (decision.add, len(decision.stop))
    return same and latest.get("outcome") == Outcome.REFUSED and latest.get("action_id") is not None


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
