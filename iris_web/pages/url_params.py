"""What a page reads from its address. Each page declares its parameters once; every state of it is such an address."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from urllib.parse import urlencode

from django.http import QueryDict

from iris_web import parameter_names
from scaling.characters import harmless, without_hidden
from scaling.operations.inputs import written_time

MAX_CHARS = 300
# More choices than these are not listed in a sentence.
FEW_CHOICES = 20
# How alike a name must be to one that the page knows, to be taken for a slip of the keyboard (0 to 1).
NEAR = 0.7
_SPAN = re.compile(r"([1-9][0-9]{0,3})(min|h|d)")
_OFFSET = re.compile(r"(T\S+) (\d\d:?\d\d)$")
_SPAN_SECONDS = {"min": 60, "h": 3_600, "d": 86_400}


class Kind(StrEnum):
    TEXT = "text"
    CHOICE = "choice"
    TIME = "time"
    SPAN = "span"
    NUMBER = "number"
    CURSOR = "cursor"


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: its name in the address, its label for people, what it may be.

    A TIME is an ISO date or time, UTC unless it says otherwise; a SPAN is `30min`, `24h` or `7d`. A CURSOR is a place
    in a list: any change of the other parameters drops it.
    """

    name: str
    label: str
    kind: Kind = Kind.TEXT
    choices: tuple[tuple[str, str], ...] = ()
    default: str = ""
    shown: bool = True

    def problem(self, value: str) -> str:
        """One sentence on what is wrong with the value, or nothing."""
        if len(value) > MAX_CHARS:
            return f"{self.label}: expected at most {MAX_CHARS} characters."
        if self.kind is Kind.CHOICE and value not in dict(self.choices):
            return f"{self.label}: there is no “{value}”{self._instead(value)}"
        if self.kind is Kind.TIME and parse_time(value) is None:
            return f"{self.label}: “{value}” is not a time; expected one such as 2026-05-31 or 2026-05-31T18:30 (UTC)."
        if self.kind is Kind.SPAN and parse_span(value) is None:
            return f"{self.label}: “{value}” is not a duration; expected one such as 30min, 24h or 7d."
        if self.kind is Kind.NUMBER and not (value.isascii() and value.isdigit() and len(value) < 19):
            return f"{self.label}: “{value}” is not a whole number."
        return ""

    def _instead(self, value: str) -> str:
        """The end of the sentence on a choice that is none: all there are, or of many the nearest."""
        known = [choice for choice, _ in self.choices if choice]
        if len(known) <= FEW_CHOICES:
            return f"; expected one of {', '.join(known)}."
        near = get_close_matches(value, known, n=3)
        return f". Did you mean {' or '.join(near)}?" if near else ". Choose one from the list."


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A filter in force and the address without it."""

    label: str
    value: str
    without: str


@dataclass(frozen=True, slots=True)
class PageState:
    """The parameters of one request. `problems` are the sentences for values that cannot be meant, by parameter."""

    params: tuple[Param, ...]
    values: Mapping[str, str]
    problems: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, params: Sequence[Param], given: Mapping[str, str]) -> "PageState":
        """Read an address's parameters; wrong values become problems and count as unset, unknown names are told.

        Of a parameter that a QueryDict has several times the last counts, which is told where they differ.
        """
        values: dict[str, str] = {}
        problems = _unknown(params, given) | _repeated(params, given)
        for param in params:
            raw = given.get(param.name, "").strip()
            value = without_hidden(raw).strip()
            problem = param.problem(value) if value else ""
            if raw and not value:
                problem = f"{param.label}: “{harmless(raw[:60])}” has nothing in it that can be seen."
            if problem:
                problems[param.name] = problem
            values[param.name] = param.default if problem or not value else value
        return cls(tuple(params), values, problems)

    def placed(self, reads: Callable[[str], bool]) -> "PageState":
        """The state without a cursor that no list gave out, which is told: `reads` knows those of this page's list."""
        lost = [p for p in self.params if p.kind is Kind.CURSOR and self[p.name] and not reads(self[p.name])]
        told = {
            p.name: f"{p.label}: “{self[p.name][:60]}” is no place in this list; here is its beginning." for p in lost
        }
        emptied = dict.fromkeys(told, "")
        return replace(self, values={**self.values, **emptied}, problems={**self.problems, **told}) if lost else self

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def time(self, name: str) -> datetime | None:
        return parse_time(self.values[name])

    def span(self, name: str) -> timedelta | None:
        return parse_span(self.values[name])

    @property
    def typed_times(self) -> dict[str, str]:
        """Each TIME as its field takes it (in UTC): a date is its first moment.

        A `datetime-local` forgets a time with microseconds, which is longer than all others: its field is one of text.
        """
        found = {p.name: self.time(p.name) for p in self.params if p.kind is Kind.TIME}
        return {name: at.replace(tzinfo=None).isoformat(timespec=_finest(at)) for name, at in found.items() if at}

    def page_of(self, total: int, size: int) -> tuple[int, str]:
        """(the number of the page to show, from 1; what is said where the address asks for one behind the last)."""
        asked, last = max(1, self.number("page") or 1), max(1, -(-total // size))
        return min(asked, last), f"There is no page {asked}; this is the last, {last}." if asked > last else ""

    def number(self, name: str) -> int | None:
        return int(self.values[name]) if self.values[name] else None

    def address(self, **changes: str) -> str:
        """`?kind=drain&q=x` with these changes; without cursors unless one of them is the change."""
        kept = {
            param.name: changes.get(param.name, "" if param.kind is Kind.CURSOR else self.values[param.name])
            for param in self.params
        }
        shown = {p.name: kept[p.name] for p in self.params if kept[p.name] and kept[p.name] != p.default}
        return f"?{urlencode(shown)}" if shown else "?"

    @property
    def query(self) -> str:
        """The address without its question mark: what a live fragment takes to read the same state."""
        return self.address(**{p.name: self.values[p.name] for p in self.params})[1:]

    @property
    def filters(self) -> list[ActiveFilter]:
        return list(self._filters())

    def _filters(self) -> Iterator[ActiveFilter]:
        for param in self.params:
            value = self.values[param.name]
            if param.shown and param.kind is not Kind.CURSOR and value and value != param.default:
                moment = parse_time(value) if param.kind is Kind.TIME else None
                told = time_text(moment) if moment else dict(param.choices).get(value, value)
                yield ActiveFilter(param.label, told, self.address(**{param.name: ""}))

    @property
    def filtered(self) -> bool:
        return any(True for _ in self._filters())


def _unknown(params: Sequence[Param], given: Mapping[str, str]) -> dict[str, str]:
    """One sentence for each name that no parameter has: what it was meant to leave out is shown all the same."""
    names = [param.name for param in params]
    problems = {}
    for name in given:
        if name not in names:
            shown = [param.name for param in params if param.shown]
            near = parameter_names.of_page(name, names) or next(iter(get_close_matches(name, shown, 1, NEAR)), "")
            meant = f"; did you mean {near}?" if near else "; its pages have no numbers." if name == "page" else "."
            problems[name[:MAX_CHARS]] = (
                f"The address asks for “{harmless(name[:60])}”, which this page does not know{meant}"
            )
    return problems


def _repeated(params: Sequence[Param], given: Mapping[str, str]) -> dict[str, str]:
    """One sentence for each parameter that the address has several times, with different values."""
    if not isinstance(given, QueryDict):
        return {}
    problems = {}
    for param in params:
        values = given.getlist(param.name)
        if len(set(values)) > 1:
            last = harmless(values[-1][:60])
            problems[f"{param.name} repeated"] = (
                f"{param.label}: the address has {param.name} {len(values)} times; only the last, “{last}”, counts."
            )
    return problems


def parse_time(text: str) -> datetime | None:
    """An ISO date or time, or Unix seconds, as an aware datetime (UTC without an offset); None for what is none.

    Of an offset that was typed into an address as it is, the plus arrives as a blank.
    """
    try:
        told = written_time(_OFFSET.sub(r"\1+\2", text))
        found = datetime.fromisoformat(told) if isinstance(told, str) else datetime.fromtimestamp(told, UTC)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def time_text(at: datetime) -> str:
    """`2026-05-31 18:30 UTC`; seconds where there are some."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(sep=' ', timespec=_finest(at))} UTC"


def _finest(at: datetime) -> str:
    if at.microsecond:
        return "microseconds" if at.microsecond % 1000 else "milliseconds"
    return "seconds" if at.second else "minutes"


def parse_span(text: str) -> timedelta | None:
    found = _SPAN.fullmatch(text)
    return timedelta(seconds=int(found[1]) * _SPAN_SECONDS[found[2]]) if found else None
