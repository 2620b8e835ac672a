"""What an act did, in a line: shown for its reason where none was given."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from iris_web.pages import words
from iris_web.pages.action_diff import differences
from scaling.models import Action, ActorKind
from scaling.operations.telling import done_words

FIELDS_TOLD = 3
NAMES_TOLD = 3
ANSWER = "scale_answer"
# Acts that say more in words than by the fields they changed.
_SAID = frozenset(
    {"halt", "unhalt", "resume", "undrain", "unacknowledge", "marker_cleared", "set_platform_mode", "wake", "scale",
     "forget", "forget_learned_limit", "revoke_token", "test_channel"}
)  # fmt: skip
# What Iris itself writes without a reason.
_WITHOUT_REASON = frozenset({ANSWER, "demand", "deployment_listed"})
# What became of a call to the Gateway, by the outcome of its answer.
_ANSWERS: Mapping[str, str] = {
    "ok": "the Gateway accepted the call",
    "refused": "the Gateway refused the call",
    "timeout": "no answer came in time; the call counts as done",
}


def change(told: Action, asked: Mapping[str, Any] | None = None) -> str:
    """`Max slices 8 → 12`, `scaled it to 5; no reason given`; of an answer what was `asked` for, where it is known."""
    if told.kind == ANSWER:
        return _answer(told.outcome, asked or {})
    if not tells(told):
        return ""
    by_person = told.actor_kind != ActorKind.SYSTEM
    if by_person and told.kind in _SAID and (done := done_words(told)):
        return f"{done}; no reason given"
    # Labels have commas of their own.
    return "; ".join(islice(_fields(told), FIELDS_TOLD)) or ("no reason given" if by_person else "")


def tells(action: Action) -> bool:
    """Whether a list reads what an act changed, to show it for the reason that is not given."""
    return not action.reason and (action.actor_kind != ActorKind.SYSTEM or action.kind in _WITHOUT_REASON)


def asked_for(answers: Iterable[Action]) -> dict[int, Any]:
    """What the calls asked for, by their ids. One query, none without answers."""
    causes = {answer.cause_id for answer in answers if answer.cause_id is not None}
    return dict(Action.objects.filter(pk__in=causes).order_by().values_list("pk", "after")) if causes else {}


def _answer(outcome: str, asked: Mapping[str, Any]) -> str:
    add, stop = asked.get("add") or 0, asked.get("stop") or []
    parts = [f"{words.plural(add, 'replica')} to add"] if add else []
    if stop:
        more = f" and {len(stop) - NAMES_TOLD} more" if len(stop) > NAMES_TOLD else ""
        parts.append(f"{', '.join(map(str, stop[:NAMES_TOLD]))}{more} to remove")
    told = _ANSWERS.get(outcome, words.phrase(outcome))
    return f"{told}: {' and '.join(parts)}" if parts else told


def _fields(told: Action) -> Iterable[str]:
    """Of what is new neither what is empty nor its name, which is that of the target."""
    for one in differences(told.before, told.after):
        named = one.name == "name" and told.target.endswith(f" {one.after}")
        if one.before:
            yield f"{one.label} {one.before} → {one.after or 'none'}"
        elif one.after != "none" and not named:
            yield f"{one.label} {one.after}"
