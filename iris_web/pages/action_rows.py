"""One action as lists show it: who did what to what, in words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from iris_web.pages import addresses, words
from iris_web.pages.action_changes import ANSWER, asked_for, change, tells
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Action, ActorKind
from scaling.operations.ends import (
    HAVE_TERMS,
    Ended,
    deadline_of,
    direction_of,
    end_of,
    ended_of,
    is_open_ended,
)
from scaling.operations.labels import EDIT_LABELS, LIMIT_LABELS

# The shape beside each kind; others are shown by the ring.
SHAPES: dict[str, str] = {
    "scale_up": "up",
    "scale_down": "down",
    "slice_ready": "disc",
    "slice_failed": "cross",
    "slice_lost": "cross",
    "slice_adopted": "probe",
    "slice_swept": "minus",
    "slice_cancelled": "minus",
    "create_failed": "cross",
    "marker_set": "diamond",
    "marker_cleared": "check",
    "deferred": "clock",
    "delete_failed": "cross",
    "drain": "down",
    "undrain": "undo",
    "pause": "pause",
    "resume": "play",
    "acknowledge": "eye",
    "unacknowledge": "undo",
    "hold": "clock",
    "set_limits": "edit",
    "set_quota": "edit",
    "forget_learned_limit": "undo",
    "set_platform_mode": "settings",
    "halt": "stop",
    "unhalt": "play",
    "create_channel": "edit",
    "set_channel": "edit",
    "remove_channel": "minus",
    "test_channel": "right",
    "notice_given_up": "cross",
    "create_token": "lock",
    "revoke_token": "lock",
    "demand": "demand",
    "put_job": "demand",
    "cancel_job": "minus",
    "scale_replicas": "gauge",
    "scale_answer": "right",
    "scale_done": "check",
    "replica_crashed": "cross",
    "deployment_listed": "deployments",
    "deployment_gone": "minus",
    "scale": "gauge",
    "wake": "play",
    "set_targets": "edit",
    "forget": "minus",
    "create_user": "user",
    "set_user": "user",
    "unlock_user": "user",
    "import": "edit",
    "archive_actions": "lock",
}
KINDS = tuple(SHAPES)
LONGEST_REASON = 180
# Kinds that tell of trouble, whatever the outcome of recording them was.
_TROUBLE = frozenset(
    {"slice_failed", "slice_lost", "create_failed", "delete_failed", "marker_set", "halt", "replica_crashed"}
)
# Fields that Iris's own reasons name: `to keep buffer_slices warm`.
_FIELDS = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted((*LIMIT_LABELS, *EDIT_LABELS)))})(?![\w-])")


# What a halt is about.
EVERYTHING = "every platform"


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action with what its row links to."""

    action: Action
    shape: str
    tone: str
    by_person: bool
    # What it did, where it gives no reason.
    change: str = ""
    # What of an order the reason does not tell: what it stops, and when it ends by itself or that it does not.
    direction: str = ""
    until: datetime | None = None
    deadline: datetime | None = None
    open_ended: bool = False
    # How an order was over without anybody's doing, where lists know.
    ended: Ended | None = None

    @property
    def title(self) -> str:
        return words.phrase(self.action.kind)

    @property
    def tone_class(self) -> str:
        return f"tone-{self.tone}"

    @property
    def url(self) -> str:
        return addresses.action(self.action)

    @property
    def job(self) -> tuple[str, str]:
        """(name, address) of the job it is about; the target of such an action names the job's source."""
        name, source = self.action.job, self.action.target.removeprefix("source ")
        known = name and source != self.action.target
        return (name, addresses.job(f"{source}:{name}" if known else name)) if name else ("", "")

    @property
    def short_links(self) -> list[tuple[str, str]]:
        """The same with a slice's name cut to what its group's, beside it, does not say: `…-eb3c1d1f`."""
        name, group = self.action.slice, self.action.group
        rest = name.partition(group)[2] if name and group and group in name else ""
        return [(f"…{rest}" if rest and text == name else text, address) for text, address in self.links]

    @property
    def target(self) -> str:
        """What else it acted on, where its job does not tell already; everything is not told by its key."""
        target = self.action.target
        if self.action.job and target.startswith("source "):
            return ""
        return EVERYTHING if target.startswith("installation ") else target

    @property
    def links(self) -> list[tuple[str, str]]:
        """(name, address) of all that it acted on: group, slice, and the job where the reason does not name it."""
        action = self.action
        found = [(action.group, addresses.group(action.group))] if action.group else []
        found += [(action.slice, addresses.slice_(action.slice))] if action.slice else []
        found += [self.job] if action.job and action.job not in action.reason else []
        return found or ([(self.target, addresses.target(action.target))] if action.target else [])

    @property
    def reason(self) -> str:
        """The reason as it was given; what Iris itself wrote, with its fields in plain words."""
        reason = self.action.reason
        return reason if self.by_person or "_" not in reason else _FIELDS.sub(_plain, reason)

    @property
    def why(self) -> SafeString:
        """The reason, shortened, with the job that it names as a link; without one, what was done."""
        if not self.action.reason:
            return format_html("{}", self.change)
        text, (name, address) = _short(self.reason), self.job
        before, found, after = text.partition(name) if name else (text, "", "")
        return (
            format_html('{}<a href="{}">{}</a>{}', before, address, found, after) if found else format_html("{}", text)
        )

    @property
    def where(self) -> tuple[str, str]:
        """(name, address) of what it acted on: the group, else the job, else the rest."""
        action = self.action
        if action.group:
            return action.group, addresses.group(action.group)
        if action.job:
            return self.job
        return self.target, addresses.target(action.target)


def action_row(action: Action) -> ActionRow:
    by_person = action.actor_kind != ActorKind.SYSTEM
    row = ActionRow(action, SHAPES.get(action.kind, "ring"), _tone(action, by_person), by_person)
    return row if "after" in action.get_deferred_fields() else _told_row(row, action, None, None)


def action_rows(actions: Sequence[Action]) -> list[ActionRow]:
    """The rows of a list. A few queries more where orders are among them, or acts without a reason.

    Actions may come without before and after; both are read for those that tell of them.
    """
    telling = [action for action in actions if action.kind in HAVE_TERMS or tells(action)]
    lacking = {action.pk for action in telling if "after" in action.get_deferred_fields()}
    told = {action.pk: action for action in telling if action.pk not in lacking}
    told |= {one.pk: one for one in Action.objects.filter(pk__in=lacking).order_by()} if lacking else {}
    over = ended_of(told.values(), clock.now())
    asked = asked_for(action for action in told.values() if action.kind == ANSWER)
    return [
        _told_row(action_row(action), told.get(action.pk), over.get(action.pk), asked.get(action.cause_id or 0))
        for action in actions
    ]


def _told_row(row: ActionRow, told: Action | None, over: Ended | None, asked: Any) -> ActionRow:
    if told is None:
        return row
    if told.kind in HAVE_TERMS:
        row = replace(row, direction=direction_of(told), until=end_of(told), open_ended=is_open_ended(told))
        row = replace(row, deadline=deadline_of(told), ended=over, change="no reason given" if row.by_person else "")
    return row if told.reason or row.change else replace(row, change=_short(change(told, asked)))


def _plain(field: re.Match[str]) -> str:
    return words.phrase(field[0])


def _short(text: str) -> str:
    """What is short enough is not counted again sign by sign, which is most of the time a long list takes."""
    return text if len(text) <= LONGEST_REASON else Truncator(text).chars(LONGEST_REASON)


def _tone(action: Action, by_person: bool) -> str:
    if action.outcome in ("failed", "refused"):
        return "bad" if action.outcome == "failed" else "warn"
    if action.outcome == "observed":
        return "calm"
    if action.kind in _TROUBLE:
        return "warn"
    return "held" if by_person else "good" if action.kind == "slice_ready" else "calm"


def new_actions(events: Iterable[FeedEvent]) -> Sequence[Action]:
    """The actions that these events tell of, oldest first. One query."""
    ids = [event.payload.get("id") for event in events if event.kind == "action"]
    known = [number for number in ids if isinstance(number, int)]
    return list(Action.objects.filter(pk__in=known).order_by("pk")) if known else []
