"""What the answer to a tick's call leaves in the memory."""

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
    is_done = decision.sent and outcome in DONE
    asked = learned.asked
    if is_done:
        asked = settle(asked, decision.stop, now) if asked else ()
        asked = (*asked, Asked(now, decision.add, learned.listed)) if decision.add else asked
    goes_to_zero = is_done and decision.step is Step.ZERO and learned.zero_by is not ZeroBy.OPERATOR
    return ScalerMemory(
        last_scale_at=now if is_done and decision.load_driven else memory.last_scale_at,
        window=learned.window,
        asked=asked,
        zero_by=ZeroBy.LIFECYCLE if goes_to_zero else learned.zero_by,
        first_healthy_at=learned.first_healthy_at,
        metrics_missing_since=learned.metrics_missing_since,
    )
