"""What the answer to a tick's call leaves in the memory."""

from dataclasses import replace

from scaling.replicas.decision import Decision, Outcome, Step
from scaling.replicas.memory import Asked, ScalerMemory, ZeroBy, settle

DONE = frozenset({Outcome.OK, Outcome.TIMEOUT})
"""A timed-out call counts as done: it may have been, and what is not bought twice can still be bought later."""


def apply_answer(memory: ScalerMemory, decision: Decision, outcome: Outcome, now: float) -> ScalerMemory:
    """The memory after a tick; `now` is when the answer came (or the call was given up), in seconds.

    A gated tick leaves it as it was. Of a refused call only what the tick learned stays, so it is tried again.
    """
    learned = decision.learned
    if learned is None:
        return memory
    after = replace(
        memory,
        window=learned.window,
        asked=learned.asked,
        zero_by=learned.zero_by,
        first_healthy_at=learned.first_healthy_at,
        metrics_missing_since=learned.metrics_missing_since,
    )
    return _done(after, decision, now) if decision.sent and outcome in DONE else after


def _done(memory: ScalerMemory, decision: Decision, now: float) -> ScalerMemory:
    asked = settle(memory.asked, decision.stop, now) if memory.asked else ()
    if decision.add and decision.learned:
        asked = (*asked, Asked(now, decision.add, decision.learned.listed))
    to_zero = decision.step is Step.ZERO and memory.zero_by is not ZeroBy.OPERATOR
    return replace(
        memory,
        asked=asked,
        last_scale_at=now if decision.load_driven else memory.last_scale_at,
        zero_by=ZeroBy.LIFECYCLE if to_zero else memory.zero_by,
    )
