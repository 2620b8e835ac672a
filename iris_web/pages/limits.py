"""A group's limits as a form: how each is written, read and compared. What is allowed only operations decide."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from iris_web.live.times import duration_text
from iris_web.pages.act_fields import sentence
from scaling import limit_notes
from scaling.models import Group, QuotaPool
from scaling.operations import LIMIT_FIELDS, OperationRefused
from scaling.operations.labels import LIMIT_LABELS as LABELS
from scaling.operations.labels import LIMIT_SECTIONS as SECTIONS
from scaling.operations.written import changed, limits_of, write

_TEXTS = frozenset({"quota_pool"})


@dataclass(frozen=True, slots=True)
class LimitField:
    """One input. `now` is the stored value, shown where it differs from what is written."""

    name: str
    label: str
    help: str
    value: str
    now: str
    wrong: str
    kind: str
    choices: tuple[str, ...] = ()


def written(group: Group) -> dict[str, str]:
    """Every limit as its form field is written."""
    return limits_of(group)


def changes(group: Group, given: Mapping[str, str]) -> dict[str, Any]:
    """The fields written differently from what is stored, as operations read them."""
    return changed(LIMIT_FIELDS, written(group), given)


def merged(group: Group, given: Mapping[str, str]) -> dict[str, str]:
    """What someone wrote over an older version: their own changes stay, all they left alone is as it is stored now."""
    stored = written(group)
    shown = _parsed(given.get("base", ""))
    seen = shown if isinstance(shown, dict) else {}
    return {**given, **{name: stored[name] for name in LIMIT_FIELDS if given.get(name) == seen.get(name)}}


def base(group: Group) -> str:
    """The values a form was shown with, to tell later what was changed in it."""
    return json.dumps(written(group), ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def faults(refused: OperationRefused) -> dict[str, str]:
    """The sentences of a refusal by field; what belongs to none stands under ""."""
    found: dict[str, str] = {}
    for fault in refused.faults:
        place = fault.path if fault.path in LIMIT_FIELDS else ""
        found[place] = sentence(fault.message if place else str(fault))
    return found


def sections(group: Group, given: Mapping[str, str], wrong: Mapping[str, str]) -> list[tuple[str, list[LimitField]]]:
    """The form in its sections. One query: the names of quota pools."""
    stored = written(group)
    pools = tuple(QuotaPool.objects.order_by("name").values_list("name", flat=True))
    return [(title, list(_fields(names, stored, given, wrong, pools))) for title, names in SECTIONS]


def _fields(
    names: tuple[str, ...],
    stored: Mapping[str, str],
    given: Mapping[str, str],
    wrong: Mapping[str, str],
    pools: tuple[str, ...],
) -> Iterator[LimitField]:
    for name in names:
        value = given.get(name, stored[name])
        kind = "choice" if name in _TEXTS else "long" if name == "attributes" else "number"
        now = "" if value == stored[name] else stored[name] or "none"
        help_text = LIMIT_FIELDS[name].doc.replace("null", "empty")
        yield LimitField(
            name, LABELS[name], help_text, value, now, wrong.get(name, ""), kind, pools if kind == "choice" else ()
        )


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the review."""

    label: str
    before: str
    after: str
    note: str


def review(group: Group, read: Mapping[str, Any]) -> list[Change]:
    """What would change, field by field, with what follows from it where that is certain. Two queries."""
    stored, notes = written(group), limit_notes.of_group(group, read)
    return [
        Change(LABELS[name], _told(name, stored[name]), _told(name, write(value)), notes.get(name, ""))
        for name, value in read.items()
    ]


def _told(name: str, text: str) -> str:
    if text and name.endswith("_seconds"):
        return f"{text} ({duration_text(float(text))})"
    return text or "none"
