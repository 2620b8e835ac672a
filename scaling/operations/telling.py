"""An act of the history as a sentence about one thing: `ben paused it 3 s ago: flaky zone`.

Fields have the names that pages give them, times are told as times. Codes of the storage are not shown to people.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from scaling.autoscaler.quantities import duration_words
from scaling.models import Action
from scaling.operations.acts import ActKind, when
from scaling.operations.inputs import shown
from scaling.operations.labels import EDIT_LABELS, LIMIT_LABELS, POOL_LABELS

_LABELS = {**LIMIT_LABELS, **EDIT_LABELS, **POOL_LABELS}
# A word of the language; names of groups, jobs and fields have digits or other signs in them, or stand for themselves.
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?(?=[\s,:;.!?]|$)")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_TOLD_APART = 4
# Within this an act is told by its age, before it by its time.
_LATELY = timedelta(days=1)


def told(action: Action, now: datetime) -> str:
    """Who did what, when, and why they said it was done. No stop at its end."""
    words = _VERBS.get(action.kind, _edited)(action.after or {}, action.before or {})
    reason = f": {action.reason}" if action.reason else ""
    return f"{action.actor} {words} {ago(action.at, now)}{reason}"


def done_words(action: Action) -> str:
    """What was done, in words of its own kind: `halted buying and releasing of slices`; "" for an edit."""
    verb = _VERBS.get(action.kind)
    return verb(action.after or {}, action.before or {}).rstrip(",") if verb else ""


def ago(at: datetime, now: datetime) -> str:
    """`3 s ago`; for what is older than a day, its time."""
    age = now - at
    if age >= _LATELY:
        return f"at {when(at)}"
    return f"{duration_words(int(age.total_seconds()))} ago" if age >= timedelta(seconds=1) else "just now"


def capital(text: str) -> str:
    """With a capital first, as a sentence has it; not where it begins with a name, which is written as it is."""
    return text[:1].upper() + text[1:] if _WORD.match(text) else text


def label(name: str) -> str:
    """What pages call a field."""
    return _LABELS.get(name, name.replace("_", " "))


def value_words(value: Any) -> str:
    """A stored value as people read it: a time in UTC, nothing as `none`, text as it is."""
    if value is None or value == "":
        return "none"
    if not isinstance(value, str):
        return shown(value)
    if time := time_words(value):
        return time
    return value if len(value) <= 60 else f"{value[:57]}..."


def time_words(text: str) -> str:
    """A time as actions store it, in UTC; "" for any other text."""
    try:
        time = datetime.fromisoformat(text) if _TIME.match(text) else None
        return when(time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)) if time else ""
    except (ValueError, OverflowError):
        return ""


_Values = Mapping[str, Any]


def _edited(after: _Values, before: _Values) -> str:
    names = list(after) or list(before)
    if not names:
        return "changed it"
    changes = [f"{label(one)} from {value_words(before.get(one))} to {value_words(after.get(one))}" for one in names]
    more = f" and {len(changes) - _TOLD_APART} more" if len(changes) > _TOLD_APART else ""
    return f"changed {', '.join(changes[:_TOLD_APART])}{more},"


def _order(name: str, verb: str, end: str, word: str) -> Callable[[_Values, _Values], str]:
    """An order with an end: given, or only its end moved."""

    def words(after: _Values, before: _Values) -> str:
        until, direction = after.get(end), after.get("pause_direction")
        if end in after and f"{name}_since" not in after and direction == before.get("pause_direction"):
            return f"moved the end of its {name} to {value_words(until)},"
        told = f"{verb} ({direction})" if direction in ("up", "down") else verb
        return f"{told} {word} {value_words(until)}," if until else told

    return words


def _plain(verb: str) -> Callable[[_Values, _Values], str]:
    return lambda _after, _before: verb


_VERBS: dict[str, Callable[[_Values, _Values], str]] = {
    ActKind.DRAIN: _order("drain", "drained it", "drain_deadline", "with the deadline"),
    ActKind.UNDRAIN: _plain("ended its drain"),
    ActKind.PAUSE: _order("pause", "paused it", "pause_until", "until"),
    ActKind.RESUME: _plain("resumed it"),
    ActKind.ACKNOWLEDGE: _plain("acknowledged it"),
    ActKind.UNACKNOWLEDGE: _plain("took the acknowledgement back"),
    ActKind.MARKER_CLEARED: _plain("cleared it"),
    ActKind.HOLD: lambda after, _before: f"held it until {value_words(after.get('until'))},",
    ActKind.SET_PLATFORM_MODE: lambda after, _before: f"put it in mode {value_words(after.get('mode'))}",
    ActKind.FORGET_LEARNED_LIMIT: _plain("had its learned limit forgotten"),
    ActKind.HALT: _plain("halted buying and releasing of slices"),
    ActKind.UNHALT: _plain("let buying and releasing of slices go on"),
    ActKind.WAKE: _plain("woke it"),
    ActKind.SCALE: lambda after, _before: f"scaled it to {value_words(after.get('replicas'))},",
    ActKind.FORGET: _plain("forgot it"),
    ActKind.IMPORT: _plain("imported it from a cluster file"),
    ActKind.REVOKE_TOKEN: _plain("revoked it"),
    ActKind.CREATE_CHANNEL: _plain("made it"),
    ActKind.REMOVE_CHANNEL: _plain("removed it"),
    ActKind.SET_CHANNEL: _plain("changed it"),
    ActKind.TEST_CHANNEL: _plain("tried it out"),
}
