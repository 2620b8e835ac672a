"""The inputs of an act's form: what is asked for, how it is read and shown, and what is wrong with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from iris_web.pages.url_params import parse_span
from scaling import clock
from scaling.operations import OperationRefused
from scaling.operations.acts import ACT_FIELDS
from scaling.operations.telling import capital

V = TypeVar("V", int, int | None)


class Input(StrEnum):
    TEXT = "text"
    LONG = "long"
    END = "end"
    AT = "at"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class FormField:
    """One input of an act. A NAME must be `expected`.

    An END is how long something holds, an AT is when something happens: each is a duration out of `spans` or an exact
    time in UTC, and `spans` begins with what holds where nothing is chosen.
    """

    name: str
    label: str
    kind: Input = Input.TEXT
    help: str = ""
    required: bool = False
    expected: str = ""
    spans: tuple[tuple[str, str], ...] = ()
    initial: str = ""

    @property
    def is_time(self) -> bool:
        return self.kind in (Input.END, Input.AT)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The spans as a sentence with the field's label takes them: `1 hour` for an END, `in 1 hour` for an AT."""
        before = "in " if self.kind is Input.AT else ""
        return [(value, f"{before}{label}" if value else label) for value, label in self.spans]


_BOTH = {
    Input.END: "Choose how long, or until exactly when: expected one of the two, got both.",
    Input.AT: "Choose in how long, or exactly when: expected one of the two, got both.",
}
REASON = FormField("reason", "Reason", help="Kept in the history, beside your name.")
SPANS = (("15min", "15 minutes"), ("1h", "1 hour"), ("4h", "4 hours"), ("24h", "24 hours"), ("7d", "7 days"))


def faults_of(refused: OperationRefused, fields: Iterable[FormField]) -> dict[str, str]:
    """The sentences of a refusal by field; those of no field of the form stand over it, under ""."""
    names = {field.name for field in fields}
    found: dict[str, str] = {}
    for fault in refused.faults:
        place = fault.path if fault.path in names else ""
        text = sentence(fault.message if place else str(fault))
        found[place] = f"{found[place]} {text}" if place in found else text
    return found


def read_fields(fields: Iterable[FormField], given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """(values, sentences on what is wrong by field). What only the act itself can know is left to its operation."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for item in fields:
        text = given.get(item.name, "")
        values[item.name] = _end(item, given) if item.is_time else text
        if item.is_time and text and given.get(f"{item.name}_span"):
            wrong[item.name] = _BOTH[item.kind]
        elif item.kind is Input.NAME and text != item.expected:
            wrong[item.name] = f"Expected the name {item.expected}, to be sure."
        elif item.required and not values[item.name]:
            wrong[item.name] = f"{item.label}: expected some text, got none."
        elif item.name in ACT_FIELDS:
            _, faults = ACT_FIELDS.only([item.name]).try_read({item.name: values[item.name]})
            if faults:
                wrong[item.name] = sentence(faults[0].message)
    return values, wrong


def _end(item: FormField, given: Mapping[str, str]) -> datetime | str | None:
    """An exact time as it was written (operations read it), else now and the chosen span, else nothing."""
    exact = given.get(item.name, "")
    span: timedelta | None = parse_span(given.get(f"{item.name}_span", ""))
    return exact or (clock.now() + span if span else None)


def shown_version(given: Mapping[str, str], present: V) -> int | V:
    """The version that a form was shown with; the present one where it does not say."""
    text = given.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else present


def sentence(text: str) -> str:
    """As people write it: a capital first where it does not begin with a name, a stop at the end."""
    return capital(text) + ("" if text.endswith((".", "!", "?")) else ".")


def inputs(fields: Iterable[FormField], given: Mapping[str, str], wrong: Mapping[str, str]) -> list[dict[str, Any]]:
    """The fields as a template shows them: what was sent, or what each begins with, and what is wrong with it."""
    return [
        {
            "field": item,
            "value": given.get(item.name, item.initial),
            "span": given.get(f"{item.name}_span", ""),
            "wrong": wrong.get(item.name, ""),
            "described_by": _described_by(item, item.name in wrong),
        }
        for item in fields
    ]


def _described_by(item: FormField, is_wrong: bool) -> str:
    """The ids of what explains a field, for `aria-describedby`."""
    ids = ([f"help_{item.name}"] if item.help else []) + ([f"wrong_{item.name}"] if is_wrong else [])
    return " ".join(ids)
