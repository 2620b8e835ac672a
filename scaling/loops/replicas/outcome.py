"""One deployment's tick from the decision to its row: what is saved before the call, and what after its answer."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from scaling import stored_json
from scaling.loops.replicas import roster
from scaling.loops.replicas.held import HeldScaler, ScalerRow
from scaling.loops.replicas.saving import ScalerUpdate
from scaling.lyc_settings import TICK_TIMEOUT_SECONDS
from scaling.replicas.answer import apply_answer
from scaling.replicas.decision import Decision, Gate, Outcome
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.picture import picture_of
from scaling.replicas.replica import Replica
from scaling.replicas.stored import memory_to_mapping

# No round that sends a call takes longer.
CALL_SECONDS = TICK_TIMEOUT_SECONDS + 5.0
# A decision that is like the one before is stored again after this long.
TELL_AGAIN_SECONDS = 300.0


@dataclass(slots=True)
class Ticked:
    """One deployment in a tick; `replicas` None where its list could not be read."""

    held: HeldScaler
    replicas: tuple[Replica, ...] | None
    decision: Decision
    message: str = ""
    action_id: int | None = None
    repeated: bool = False
    tell: bool = False
    untold: bool = False

    @property
    def row(self) -> ScalerRow:
        return self.held.row


def news_of(decision: Decision) -> str:
    """A fingerprint of what makes a decision worth storing."""
    return hashlib.sha1(repr(decision.news).encode(), usedforsecurity=False).hexdigest()


def is_worth_telling(ticked: Ticked, now: datetime) -> bool:
    """News, or five minutes since the last one was stored."""
    row = ticked.row
    if row.told != news_of(ticked.decision) or row.told_at is None:
        return True
    return not 0 <= (now - row.told_at).total_seconds() < TELL_AGAIN_SECONDS


def update_for(
    ticked: Ticked, outcome: Outcome, answered_at: float, pending: dict[str, Any] | None, written: int = 0
) -> ScalerUpdate:
    """The row after `outcome`; before a call is sent that is TIMEOUT: unless its answer says otherwise, it was done.

    `written`: how often this tick has written the row already.
    """
    held, decision = ticked.held, ticked.decision
    memory = apply_answer(held.memory, decision, outcome, answered_at)
    return ScalerUpdate(
        row_id=ticked.row.pk,
        token=ticked.row.token,
        version=ticked.row.memory_version + written,
        zero_by=memory.zero_by.value if memory.zero_by else "",
        memory=stored_json.dump(_without_zero(memory)),
        replicas=stored_json.dump(_replicas(ticked)),
        latest=stored_json.dump(latest_of(decision, memory, ticked)),
        pending=stored_json.dump(pending) if pending else None,
        tell=ticked.tell,
        # Kept in the row only where it is told.
        told=news_of(decision) if ticked.tell else "",
        untold=int(ticked.untold),
    )


def _without_zero(memory: ScalerMemory) -> dict[str, Any]:
    stored = memory_to_mapping(memory)
    del stored["zero_by"]
    return stored


def _replicas(ticked: Ticked) -> list[Any]:
    """What is known stays while the list cannot be read, or its health checks cannot be believed."""
    before = ticked.row.replicas
    if ticked.replicas is None or ticked.decision.gate is Gate.FLEET_UNKNOWN:
        return list(before)
    return roster.to_store(ticked.replicas, before, ticked.held.settings, ticked.decision.at)


def latest_of(decision: Decision, memory: ScalerMemory, ticked: Ticked) -> dict[str, Any]:
    """The tick's picture with what came of it and what it was told."""
    return {
        **picture_of(decision, ticked.held.settings, memory.metrics_missing_since),
        "message": ticked.message,
        "action_id": ticked.action_id,
        "last_request_at": ticked.held.settings.last_request_at,
    }


def answered(ticked: Ticked, outcome: Outcome, message: str) -> None:
    """Put the answer into the decision."""
    ticked.decision = replace(ticked.decision, outcome=outcome)
    ticked.message = message


def pending_call(ticked: Ticked, at: datetime) -> dict[str, Any] | None:
    """What is written down beside the memory while a call is under way."""
    decision = ticked.decision
    if not decision.sent:
        return None
    return {"at": at.timestamp(), "add": decision.add, "stop": list(decision.stop), "action": ticked.action_id}


def is_under_way(pending: dict[str, Any] | None, now: float) -> bool:
    """Whether a call may still be waiting for its answer; one older than any round was left by a process that died."""
    return pending is not None and 0 <= now - float(pending["at"]) < CALL_SECONDS
