"""How every state looks: a word, a tone (colour) and a shape, so that colour alone never tells anything.

The words are those of the documents and the logs, in lower case, but for hints; a new state without a row here is
shown as its word.
"""

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What colour means on every page."""

    GOOD = "good"
    BUSY = "busy"
    COMING = "coming"
    HELD = "held"
    WARN = "warn"
    BAD = "bad"
    CALM = "calm"


@dataclass(frozen=True, slots=True)
class Look:
    """`shape` names a symbol of the sprite in templates/partials/sprite.html."""

    word: str
    tone: Tone
    shape: str
    meaning: str = ""


GROUP: dict[str, Look] = {
    "AVAILABLE": Look("available", Tone.GOOD, "disc", "New slices may be bought here."),
    "PLATFORM_UNREACHABLE": Look("platform unreachable", Tone.BAD, "plug", "Its platform cannot be listed."),
    "DRAINING": Look("draining", Tone.HELD, "down", "An operator drains it: no new demand, slices leave when idle."),
    "PAUSED": Look("paused", Tone.HELD, "pause", "An operator paused it: nothing new is bought."),
    # These two the planner calls PAUSED as well: see `halts`.
    "HALTED": Look("halted", Tone.HELD, "stop", "Buying and releasing of slices is halted, on every platform."),
    "PAUSE_OVER": Look("pause over", Tone.CALM, "clock", "Its pause has run out; the next cycle looks at it again."),
    "CREATE_REFUSED": Look("create refused", Tone.BAD, "stop", "The platform refuses for good until a person acts."),
    "CAPACITY_EXCEEDED": Look("capacity exceeded", Tone.CALM, "full", "No slices are left under its max."),
    "QUOTA_EXCEEDED": Look("quota exceeded", Tone.WARN, "gauge", "Its quota pool cannot pay one more slice."),
    "BACKOFF": Look("backoff", Tone.WARN, "clock", "A short pause after a transient failure."),
    "STOCKOUT": Look("stockout", Tone.BAD, "diamond", "The platform has none of these at the moment."),
    "PROBING": Look("probing", Tone.COMING, "probe", "One slice is tried before full speed returns."),
    "TIER_BLOCKED": Look("tier blocked", Tone.WARN, "lock", "A tier of its quota pool at or below its own is blocked."),
    "": Look("not evaluated", Tone.CALM, "ring", "No cycle has evaluated it yet."),
}

SLICE: dict[str, Look] = {
    "REQUESTING": Look("requesting", Tone.COMING, "dashed", "Written down, not confirmed by the platform."),
    "BOOTING": Look("booting", Tone.COMING, "half", "Accepted by the platform, starting."),
    "READY": Look("ready", Tone.GOOD, "disc", "All workers answer."),
    "BUSY": Look("in use", Tone.BUSY, "disc", "At least one worker has a task."),
    "IDLE": Look("idle", Tone.GOOD, "ring", "No worker has a task."),
    "DRAINING": Look("draining", Tone.HELD, "down", "Takes no new tasks and leaves when it is idle."),
    "TERMINATING": Look("terminating", Tone.CALM, "minus", "The platform was told to end it."),
    "FAILED": Look("failed", Tone.BAD, "cross", "It did not start, or was lost."),
    "GONE": Look("gone", Tone.CALM, "minus", "It no longer exists."),
}

WORKER: dict[str, Look] = {
    "BOOTING": SLICE["BOOTING"],
    "READY": SLICE["READY"],
    "BUSY": SLICE["BUSY"],
    "IDLE": SLICE["IDLE"],
    "UNKNOWN": Look("unknown", Tone.WARN, "question", "It has not been heard of for a while."),
    "NOT_FOUND": Look("not found", Tone.BAD, "cross", "The platform does not list it."),
}

JOB: dict[str, Look] = {
    "pending": Look("pending", Tone.COMING, "ring", "No task of it has a worker yet."),
    "running": Look("running", Tone.BUSY, "disc", "At least one task has a worker; others may wait."),
    "done": Look("done", Tone.GOOD, "check", "Every task ended."),
    "cancelled": Look("cancelled", Tone.CALM, "minus", "Withdrawn by its source."),
}

# The words of hints are for people; the code that schedulers get is told beside the answer on the job's page.
HINT: dict[str, Look] = {
    "scaling_up": Look("scaling up", Tone.COMING, "dashed", "Slices for it were requested."),
    "waiting_for_workers": Look("waiting for workers", Tone.COMING, "half", "Its slices are booting."),
    "tier_blocked": Look("groups blocked", Tone.WARN, "lock", "Groups match, and each one is blocked or full."),
    "insufficient_resources": Look("too large", Tone.BAD, "full", "It is larger than any group holds."),
    "coschedule_mismatch": Look("gang does not fit", Tone.BAD, "grid", "The gang does not fill whole slices."),
    "no_matching_group": Look("no group fits", Tone.BAD, "question", "No group meets what it asks for."),
    "invalid_request": Look("invalid request", Tone.BAD, "cross", "The request cannot be meant."),
}

MARKER: dict[str, Look] = {
    "stockout": GROUP["STOCKOUT"],
    "backoff": GROUP["BACKOFF"],
    "quota": Look("quota", Tone.WARN, "gauge", "The platform refuses for its quota."),
    "permanent": Look("permanent", Tone.BAD, "stop", "Stays until the group is edited or a person clears it."),
    # What has run out blocks nothing more and asks for nobody.
    "stockout_over": Look("stockout over", Tone.CALM, "probe", "It has run out: the next request there is a probe."),
    "backoff_over": Look("backoff over", Tone.CALM, "probe", "It has run out: the next request there is a probe."),
    "quota_over": Look("quota over", Tone.CALM, "probe", "It has run out: the next request there is a probe."),
}

ACTION: dict[str, Look] = {
    "ok": Look("ok", Tone.GOOD, "check", "It was done."),
    "failed": Look("failed", Tone.BAD, "cross", "It was tried and failed."),
    "refused": Look("refused", Tone.WARN, "stop", "It was not allowed and nothing changed."),
    "observed": Look("observed", Tone.CALM, "eye", "Planned only: its platform is in observe mode."),
    "sent": Look("sent", Tone.COMING, "right", "The call was sent; its answer follows as an effect."),
    "timeout": Look("timed out", Tone.WARN, "clock", "No answer in time: it counts as done."),
    "unknown": Look("unknown", Tone.WARN, "question", "Nobody heard the answer: it counts as done."),
    "reached": Look("reached", Tone.GOOD, "disc", "What was ordered is there."),
    "expired": Look("expired", Tone.WARN, "minus", "It was not reached in its time and is given up."),
}

CHECK: dict[str, Look] = {
    "passed": Look("passed", Tone.GOOD, "check"),
    "first": Look("blocks", Tone.BAD, "cross"),
    "also": Look("blocks too", Tone.WARN, "cross"),
}

# What a check of the filter chain says when it passes.
PASSED: dict[str, str] = {
    "PLATFORM_UNREACHABLE": "its platform answers",
    "DRAINING": "nobody drains it",
    "PAUSED": "nobody paused it",
    "CREATE_REFUSED": "the platform does not refuse it for good",
    "CAPACITY_EXCEEDED": "slices are left under its max",
    "QUOTA_EXCEEDED": "its pool can pay one more slice",
    "BACKOFF": "no back-off is running",
    "STOCKOUT": "not known to be out of stock",
    "PROBING": "no probe is in flight",
    "TIER_BLOCKED": "no tier of its pool closes it",
}

HEALTH: dict[str, Look] = {
    "ok": Look("ok", Tone.GOOD, "check"),
    "late": Look("late", Tone.WARN, "clock"),
    "failed": Look("failed", Tone.BAD, "cross"),
    "silent": Look("silent", Tone.BAD, "plug"),
    "never": Look("not yet run", Tone.CALM, "ring"),
    "aborted": Look("aborted", Tone.BAD, "stop"),
    "reachable": Look("reachable", Tone.GOOD, "check"),
    "unreachable": Look("unreachable", Tone.BAD, "plug"),
    "unknown": Look("not asked yet", Tone.CALM, "ring"),
    "unused": Look("not used yet", Tone.CALM, "ring"),
    "off": Look("off", Tone.CALM, "minus"),
    "unset": Look("not set", Tone.WARN, "warn"),
    "act": Look("act", Tone.GOOD, "play", "Plans are carried out."),
    "observe": Look("observe", Tone.WARN, "eye", "Plans are shown; nothing is sent."),
}

KINDS: dict[str, dict[str, Look]] = {
    "group": GROUP,
    "slice": SLICE,
    "worker": WORKER,
    "job": JOB,
    "hint": HINT,
    "marker": MARKER,
    "action": ACTION,
    "check": CHECK,
    "health": HEALTH,
}


def look(kind: str, code: str) -> Look:
    """The look of a state; a code without a row is its own word in the calm tone."""
    return KINDS[kind].get(code) or Look(str(code).lower().replace("_", " "), Tone.CALM, "ring")
