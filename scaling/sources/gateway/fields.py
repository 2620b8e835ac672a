"""Reading one field of one JSON object: what is wrong is said with the field's name and what was expected.

What is accepted here can be stored: a text that the database refuses would make every round fail after it was read.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from scaling.characters import check_line, without_hidden

# An operator's own settings have the same bounds (`scaling.operations.EDIT_FIELDS`).
MOST_REPLICAS = 100_000
MOST_SECONDS = 86_400.0
MOST_TOLERANCE = 0.99
LONGEST_ID = 200
LONGEST_STATUS = 50
LONGEST_NAME = 200
WHOLE_IDS = range(-(2**63), 2**64)
# Later than this in seconds is the year 5138: the number is in milliseconds, and would read as a check of just now.
LATEST_SECONDS = 1e11
UNSET_YEAR = 1


class FieldProblem(Exception):
    """`where` is the field, as a path within the object that is read."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.where = where
        self.what = what

    def inside(self, place: str) -> "FieldProblem":
        """The same problem seen from the object around it."""
        joint = "" if not self.where or self.where.startswith("[") else "."
        return FieldProblem(f"{place}{joint}{self.where}", self.what)


def shown(value: object) -> str:
    """A value of the answer as quoted in a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def unexpected(field: str, expected: str, value: object) -> FieldProblem:
    return FieldProblem(field, f"expected {expected}, got {shown(value)}")


def pick(entry: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is there and not null; None when there is none."""
    for name in names:
        value = entry.get(name)
        if value is not None:
            return value
    return None


def identity(entry: Mapping[str, Any], *names: str) -> str:
    """A required id: text, or a whole number of 64 bits as text."""
    value = pick(entry, *names)
    if value is None:
        raise FieldProblem(names[0], "missing")
    if type(value) is int and value in WHOLE_IDS:
        return str(value)
    return _line(names[0], value, LONGEST_ID)


def status(entry: Mapping[str, Any]) -> str:
    """A required word, in lower case."""
    value = entry.get("status")
    if value is None:
        raise FieldProblem("status", "missing")
    return _line("status", value, LONGEST_STATUS).strip().lower()


def _line(name: str, value: object, longest: int) -> str:
    """One line that is not blank, with nothing in it that nobody sees."""
    if type(value) is not str or not value.strip() or len(value) > longest:
        raise unexpected(name, f"a text of 1 to {longest} characters", value)
    try:
        check_line(value)
    except ValueError:
        raise unexpected(name, "a text of one line, without invisible characters", value) from None
    return value


def title(entry: Mapping[str, Any], name: str) -> str:
    """A text for people, made to fit rather than refused; empty where there is none."""
    value = entry.get(name)
    if type(value) is not str:
        return ""
    return " ".join(without_hidden(value, " ").split())[:LONGEST_NAME].rstrip()


def whole(entry: Mapping[str, Any], name: str) -> int:
    """A required count of 0 or more."""
    value = optional_whole(entry, name)
    if value is None:
        raise FieldProblem(name, "missing")
    return value


def optional_whole(entry: Mapping[str, Any], name: str, least: int = 0) -> int | None:
    """A count; one above MOST_REPLICAS is how some APIs write "no limit", and counts as MOST_REPLICAS."""
    value = entry.get(name)
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < least:
        raise unexpected(name, f"a whole number of {least} or more", value)
    return min(value, MOST_REPLICAS)


def optional_number(entry: Mapping[str, Any], *names: str, most: float = math.inf) -> float | None:
    """A number from 0 to `most`, of the first of these fields that is there."""
    value = pick(entry, *names)
    if value is None:
        return None
    number = _finite(value)
    if number is None or not 0 <= number <= most:
        bounds = "of 0 or more" if most == math.inf else f"from 0 to {most:,g}"
        raise unexpected(names[0], f"a number {bounds}", value)
    return number


def required_flag(entry: Mapping[str, Any], name: str) -> bool:
    """True or false; null, said explicitly, is not known to be true."""
    value = entry.get(name)
    if type(value) is bool:
        return value
    if value is not None:
        raise unexpected(name, "true or false", value)
    if name not in entry:
        raise FieldProblem(name, "missing")
    return False


def optional_time(entry: Mapping[str, Any], *names: str) -> float | None:
    """A time in Unix seconds, of ISO 8601 text or a number of seconds; text without a zone is UTC.

    Null, an empty text, 0 and the year 1 are how APIs write a time that never was: unknown.
    """
    value = entry.get(names[0])
    if value is None:
        value = pick(entry, *names[1:])
    if value is None or value == "":
        return None
    seconds = _from_text(value) if type(value) is str else _finite(value)
    if seconds is None or not 0 <= seconds < LATEST_SECONDS:
        raise unexpected(names[0], "a time in ISO 8601 or Unix seconds", value)
    return seconds or None


def _from_text(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() if moment.year != UNSET_YEAR else 0.0
    except (ValueError, OverflowError):
        return None


def _finite(value: object) -> float | None:
    """The number, or None for what is not one; a boolean is not, nor is a number too large for a float."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return None
