"""What of an act's causes and effects the history does not link, told as such: where it came from, what came since."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from iris_web.pages.action_rows import action_row
from scaling.models import Action, ActorKind
from scaling.operations.acts import ActKind
from scaling.people import CREATE_USER, SET_USER, UNLOCK_USER

# What changes how Iris decides from then on, as the subject of "What follows from … is not traced". Each later cycle or
# tick decides by all that holds then, so none of its acts is linked to these.
_UNTRACED: Mapping[str, str] = {
    ActKind.SET_LIMITS: "changed limits",
    ActKind.SET_QUOTA: "a changed quota",
    ActKind.FORGET_LEARNED_LIMIT: "a forgotten limit",
    ActKind.SET_PLATFORM_MODE: "a platform's mode",
    ActKind.HALT: "a halt",
    ActKind.UNHALT: "the end of a halt",
    ActKind.PAUSE: "a pause",
    ActKind.RESUME: "the end of a pause",
    ActKind.UNDRAIN: "the end of a drain",
    ActKind.HOLD: "holding something longer",
    ActKind.MARKER_CLEARED: "an end like this",
    "marker_set": "a failure",
    ActKind.SET_TARGETS: "changed settings",
    ActKind.IMPORT: "an import",
    ActKind.DEMAND: "an update of demand",
    ActKind.PUT_JOB: "a job's demand",
    ActKind.CANCEL_JOB: "a cancelled job",
}
# What lets somebody act, whose acts name them: the start of the target, whose rest is the actor's name.
_ACTORS: Mapping[str, str] = {
    CREATE_USER: "user ",
    SET_USER: "user ",
    UNLOCK_USER: "user ",
    ActKind.CREATE_TOKEN: "token ",
    ActKind.REVOKE_TOKEN: "token ",
}
# What the loops went by where no act caused theirs.
_WENT_BY: Mapping[str, str] = {
    "scale_down": "No act asked for it: the cycle found the slice no longer needed.",
    "slice_adopted": "No act asked for it: the platform listed a slice under Iris's name.",
    "marker_set": "No act led to it: it is what the platform answered.",
    "marker_cleared": "No act led to it: its time was over, or the platform answered otherwise.",
    "scale_replicas": "No act asked for it: the replica scaler decided it from the load.",
    "replica_crashed": "No act led to it: it is what the Gateway tells.",
    "deployment_listed": "No act led to it: it is what the Gateway tells.",
    "deployment_gone": "No act led to it: it is what the Gateway tells.",
}
_OTHERWISE = "No act asked for it: Iris decided it from what it saw."


@dataclass(frozen=True, slots=True)
class Untraced:
    """That effects are not linked, in a sentence, and where all that came since is listed."""

    told: str
    link: str
    address: str


def untraced(action: Action) -> Untraced | None:
    """None where what follows from an act names it as its cause, or nothing can follow."""
    if actor := _actor(action):
        told = f"What {actor} did with it is not linked to it."
        return Untraced(told, f"What {actor} did since", _since(action, actor=actor))
    subject = _UNTRACED.get(action.kind)
    if subject is None or action.outcome != "ok":
        return None
    told = f"What follows from {subject} is not traced: each later decision goes by all that holds then."
    if action.group:
        return Untraced(told, f"What happened to {action.group} since", _since(action, group=action.group))
    if action.job:
        name, _ = action_row(action).job
        return Untraced(told, f"What was done for {name} since", _since(action, job=name))
    if action.target.startswith("deployment "):
        _, _, name = action.target.partition(" ")
        return Untraced(told, f"What happened to {name} since", _since(action, target=action.target))
    return Untraced(told, "What happened since", _since(action))


def _actor(action: Action) -> str:
    start = _ACTORS.get(action.kind)
    return action.target.removeprefix(start) if start and action.target.startswith(start) else ""


def _since(action: Action, **filters: str) -> str:
    """The history from the second of the act on."""
    begun = action.at.replace(microsecond=0, tzinfo=None).isoformat()
    return f"/actions/?{urlencode({**filters, 'from': begun})}"


def origin(action: Action, has_jobs: bool) -> str:
    """Where an act without a recorded cause came from; the jobs that a purchase is for are told after it."""
    if action.actor_kind != ActorKind.SYSTEM:
        return f"{action.actor} decided it."
    if action.kind == "scale_up":
        if has_jobs:
            return "It follows from demand:"
        if action.reason:
            return f"No act led to it: the cycle asked for the slice {action_row(action).reason}."
    return _WENT_BY.get(action.kind, _OTHERWISE)
