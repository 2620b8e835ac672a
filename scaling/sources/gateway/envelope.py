"""What may stand around a list: a bare array, or an object that holds it, and the signs that it is not all of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaling.sources.gateway.fields import FieldProblem, shown, unexpected

NEXT_LINKS = ("next", "next_url", "next_page_url", "links.next", "meta.next", "pagination.next", "paging.next")
"""Where a list says the address of its next part: followed when it is on the Gateway, else the list is refused."""

MARKS_OF_A_PART = tuple(
    f"{around}{mark}"
    for around in ("", "meta.", "pagination.", "paging.")
    for mark in (
        *("has_more", "has_next", "next_page", "next_cursor", "next_page_token", "next_token", "cursor.next"),
        *("partial", "truncated", "incomplete", "error", "errors"),
    )
)
"""Signs that there is more, or something wrong, without an address to read it from: the list is refused."""

PAGE_COUNTS = tuple(f"{around}{count}" for around in ("", "meta.", "pagination.") for count in ("total_pages", "pages"))
"""Where a list says in how many parts it comes."""

TOTALS = ("total", "total_count", "meta.total", "meta.total_count", "pagination.total", "pagination.total_count")
"""Where a list says how many entries it has in all."""


@dataclass(frozen=True, slots=True)
class Page:
    """One answer: its entries, where it says that the next part is, how many entries and parts it says there are."""

    entries: list[Any]
    next_link: str | None
    total: int | None = None
    pages: int | None = None


def open_envelope(body: Any, *names: str, linked: str | None = None) -> Page:
    """The array itself, or under the first of `names` that is there; raises FieldProblem when it is not whole.

    `linked` is the address of the next part as the answer's headers give it.
    """
    if isinstance(body, list):
        return Page(body, linked)
    expected = f"an array, or an object with one under {' or '.join(names)}"
    if not isinstance(body, dict):
        raise unexpected("", expected, body)
    name = next((name for name in names if name in body), None)
    if name is None:
        raise FieldProblem("", f"expected {expected}, got an object with {shown(', '.join(sorted(body)) or 'nothing')}")
    if not isinstance(body[name], list):
        raise unexpected(name, "an array", body[name])
    next_link = _next_link(body) or linked
    if next_link is None:
        _refuse_a_part(body)
    return Page(body[name], next_link, _number(body, TOTALS), _number(body, PAGE_COUNTS))


def _next_link(body: Mapping[str, Any]) -> str | None:
    for path in NEXT_LINKS:
        value = _at(body, path)
        if value in (None, "", False):
            continue
        if not isinstance(value, str) or not value.startswith(("/", "?", "http://", "https://")):
            raise FieldProblem(path, f"the list goes on at {shown(value)}, which is no address")
        return value
    return None


def _refuse_a_part(body: Mapping[str, Any]) -> None:
    for path in MARKS_OF_A_PART:
        value = _at(body, path)
        if value not in (None, "", False, 0, [], {}):
            raise FieldProblem(path, f"{shown(value)}: the list is not whole, and says no address for the rest")


def _number(body: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    return next((value for value in (_at(body, path) for path in paths) if type(value) is int), None)


def _at(body: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, None where there is none."""
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
