"""Kinds of input values: each reads one value or says in a sentence what was expected, and describes itself.

One table of fields (see `fields.py`) is thereby the validation of pages, admin, API, shell and cluster files alike, and
the API's published schema. `read` raises ValueError; the caller adds the place.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from scaling import clock
from scaling.characters import check_line, check_text

JsonSchema = dict[str, Any]

# The farthest a deadline or expiry may lie ahead: longer is a slip of the keyboard, not a plan.
MAX_AHEAD = timedelta(days=366)
_SHOWN_CHARS = 60
_SECONDS = re.compile(r"[0-9]{9,20}(\.[0-9]{1,9})?")
_PRICE_STEP = Decimal("0.0001")
# How far a number may be from four decimals for being written in binary: 0.30000000000000004 is 0.3.
_FLOAT_NOISE = Decimal("1e-14")
# What people and forms leave at the ends of a text: blanks, and the line break behind the last line.
_OUTER = "".join(chr(code) for code in range(0x3001) if unicodedata.category(chr(code)) == "Zs") + "\n"


class Kind(Protocol):
    """How one value is read and described."""

    def read(self, value: object) -> Any: ...

    def schema(self) -> JsonSchema: ...


def shown(value: object) -> str:
    """The value as a client wrote it (JSON), never longer than a line."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, dict | list | tuple):
        return "a list" if not isinstance(value, dict) else "an object"
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."


def _expected(what: str, value: object) -> ValueError:
    return ValueError(f"expected {what}, got {shown(value)}")


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number; `2.0` is 2, text and booleans are not numbers. `nullable`: null clears the field."""

    minimum: int
    maximum: int
    nullable: bool = False

    def read(self, value: object) -> int | None:
        if value is None and self.nullable:
            return None
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole or value < self.minimum:  # type: ignore[operator]
            raise _expected(f"a whole number of at least {self.minimum:,}", value)
        if value > self.maximum:  # type: ignore[operator]
            raise _expected(f"a whole number of at most {self.maximum:,}", value)
        return int(value)  # type: ignore[call-overload, no-any-return]

    def schema(self) -> JsonSchema:
        kind: Any = ["integer", "null"] if self.nullable else "integer"
        return {"type": kind, "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number with its unit's bounds."""

    minimum: float
    maximum: float
    nullable: bool = False

    def read(self, value: object) -> float | None:
        if value is None and self.nullable:
            return None
        known = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        if not known or math.isnan(value) or value < self.minimum:  # type: ignore[arg-type, operator]
            raise _expected(f"a number of at least {self.minimum:g}", value)
        if value > self.maximum:  # type: ignore[operator]
            raise _expected(f"a number of at most {self.maximum:,.0f}", value)
        return float(value)  # type: ignore[arg-type]

    def schema(self) -> JsonSchema:
        kind: Any = ["number", "null"] if self.nullable else "number"
        return {"type": kind, "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Price:
    """An amount of money with four decimals, kept exact; null where no price is known. More decimals are refused."""

    maximum: int = 99_999_999

    def read(self, value: object) -> Decimal | None:
        if value is None:
            return None
        Number(0, self.maximum).read(value)
        exact = Decimal(str(value))
        kept = exact.quantize(_PRICE_STEP)
        if abs(kept - exact) > exact * _FLOAT_NOISE:
            raise _expected("at most 4 decimals", value)
        return kept

    def schema(self) -> JsonSchema:
        return {"type": ["number", "null"], "minimum": 0, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Text:
    """Text of at most `longest` characters, without invisible ones; `required` refuses the empty one.

    Blanks at its ends are cut; with `exact`, for what other programs compare, they are refused. One line, since most
    are names; `lines` for what people tell. A browser sends its line breaks with carriage returns.
    """

    longest: int
    required: bool = False
    lower: bool = False
    lines: bool = False
    exact: bool = False

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise _expected("text", value)
        text = value.replace("\r\n", "\n").strip(f"{_OUTER}\t" if self.lines else _OUTER)
        if self.exact and text != value:
            raise _expected("a text without blanks at its ends", value)
        if self.required and not text:
            raise ValueError("expected some text, got none")
        if len(text) > self.longest:
            raise ValueError(f"expected at most {self.longest:,} characters, got {len(text):,}")
        (check_text if self.lines else check_line)(text)
        return text.lower() if self.lower else text

    def schema(self) -> JsonSchema:
        return {"type": "string", "maxLength": self.longest} | ({"minLength": 1} if self.required else {})


def _folded(word: str) -> str:
    return word.strip().lower().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words; case does not count, `-` and `_` are alike."""

    words: tuple[str, ...]

    def read(self, value: object) -> str:
        word = _folded(value) if isinstance(value, str) else ""
        found = next((known for known in self.words if word == _folded(known)), None)
        if found is None:
            raise _expected(f"one of {', '.join(self.words)}", value)
        return found

    def schema(self) -> JsonSchema:
        return {"type": "string", "enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise _expected("true or false", value)
        return value

    def schema(self) -> JsonSchema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: ISO 8601 (without a zone it is UTC), Unix seconds, or a datetime.

    `ahead`: only in the future, and not farther than `within`.
    """

    ahead: bool = False
    nullable: bool = True
    within: timedelta = MAX_AHEAD

    def read(self, value: object) -> datetime | None:
        if value is None and self.nullable:
            return None
        moment = _moment(value)
        if moment is None:
            raise _expected("a time such as 2031-05-30T12:00:00Z or Unix seconds", value)
        if self.ahead and moment <= clock.now():
            raise ValueError(f"expected a time in the future, got {moment.isoformat()}")
        if self.ahead and moment > clock.now() + self.within:
            raise ValueError(f"expected a time within {self.within.days:,} days, got {moment.isoformat()}")
        return moment

    def schema(self) -> JsonSchema:
        readable: list[JsonSchema] = [{"type": "string", "format": "date-time"}, {"type": "number"}]
        return {"oneOf": readable + ([{"type": "null"}] if self.nullable else [])}


def written_time(text: str) -> float | str:
    """A time as an address or a command line has it, where all is text: nine digits or more are Unix seconds.

    Fewer are a year or a day in ISO 8601 (20310530), or a slip.
    """
    return float(text) if _SECONDS.fullmatch(text.strip()) else text


def _moment(value: object) -> datetime | None:
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class Labels:
    """A flat mapping of names to text, numbers or booleans: the attributes that constraints may name."""

    most: int = 100

    def read(self, value: object) -> dict[str, str | int | float | bool]:
        if not isinstance(value, Mapping):
            raise _expected("an object of names and values", value)
        if len(value) > self.most:
            raise ValueError(f"expected at most {self.most} attributes, got {len(value)}")
        for name, label in value.items():
            Text(100, required=True).read(name)
            if isinstance(label, str):
                Text(500).read(label)
            elif not isinstance(label, int | float) or not math.isfinite(label):
                raise ValueError(f'expected text, a number or true/false for "{name}", got {shown(label)}')
        return dict(value)

    def schema(self) -> JsonSchema:
        return {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}
