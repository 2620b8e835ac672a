"""The words that are sent. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qs, unquote, urlsplit

TITLE_CHARACTERS = 200
LISTED = 20
# So much of each text where several are told in one message.
LISTED_CHARACTERS = 240
# Said wherever somebody looks after notices while the site's address is unknown.
NO_LINKS = "IRIS_SITE_URL is not set: notices have no links, they say where in Iris to look."
# How the navigation calls what a path begins with.
_PLACES = {
    "stockouts": "Stock-outs",
    "demand": "Demand",
    "groups": "Groups",
    "deployments": "Deployments",
    "actions": "Actions",
    "settings": "Settings",
}


class MessageKind(StrEnum):
    """`open`: to a channel that comes late, what it has not heard."""

    NEW = "new"
    OPEN = "open"
    AGAIN = "again"
    OVER = "over"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to tell: `kind` is the condition's word; `page` is a path of this site."""

    kind: str
    title: str
    text: str
    page: str


@dataclass(frozen=True, slots=True)
class Message:
    kind: MessageKind
    title: str
    body: str


_LEAD = {
    MessageKind.NEW: "",
    MessageKind.OPEN: "",
    MessageKind.AGAIN: "Still: ",
    MessageKind.OVER: "Over: ",
    MessageKind.TEST: "Test: ",
}
_MANY = {
    MessageKind.NEW: "{} notices at once",
    MessageKind.OPEN: "{} notices are open",
    MessageKind.AGAIN: "{} notices still hold",
    MessageKind.OVER: "{} notices are over",
}


def compose(kind: MessageKind, items: Sequence[Item], site: str, one_by_one: int) -> list[Message]:
    """A message for each item, or one for all where they are more than `one_by_one`. `site` "": places for links."""
    if len(items) <= one_by_one:
        return [Message(kind, _title(kind, item), f"{item.text}\n{more(site, item.page)}") for item in items]
    lines = [f"- {_LEAD[kind]}{item.title}{_told_of(item)}" for item in items[:LISTED]]
    if len(items) > LISTED:
        lines.append(f"- and {len(items) - LISTED} more")
    links = dict.fromkeys(more(site, page) for page in _pages_of(items))
    return [Message(kind, _MANY[kind].format(len(items)), "\n".join([*lines, *links]))]


def _pages_of(items: Sequence[Item]) -> list[str]:
    """Where they stand, each place once: things of several groups have the list of all in common."""
    pages: dict[str, set[str]] = {}
    for item in items:
        pages.setdefault(urlsplit(item.page)._replace(query="").geturl(), set()).add(item.page)
    return sorted(found.pop() if len(found) == 1 else common for common, found in pages.items())


def trial(channel: str, site: str) -> Message:
    text = f'A test of the notice channel "{channel}". Nothing is wrong.\n{more(site, "/settings/#notices")}'
    return Message(MessageKind.TEST, "Test: this is only a test", text)


def more(site: str, page: str) -> str:
    """The link to a page; where the site's address is unknown, where in Iris it is found: a path leads nowhere."""
    return f"{site}{page}" if site else f"More in Iris, under {place_of(page)}."


def place_of(page: str) -> str:
    """A path of this site as its navigation and headings name it: `/settings/#loops` is `Settings, loops`."""
    parts = urlsplit(page)
    first, *rest = [unquote(piece) for piece in parts.path.split("/") if piece] or [""]
    group = parse_qs(parts.query).get("group", [])
    section = [parts.fragment] if parts.fragment.isalpha() else []
    return ", ".join([_PLACES.get(first, "the overview"), *rest, *group, *section])


def signed(body: str, message_id: str) -> str:
    """With the id by which a message that came twice is known."""
    return f"{body}\nIris notice {message_id}"


def _told_of(item: Item) -> str:
    text = " ".join(item.text.split())
    cut = text if len(text) <= LISTED_CHARACTERS else f"{text[: LISTED_CHARACTERS - 1]}…"
    return f"\n  {cut}" if cut else ""


def _title(kind: MessageKind, item: Item) -> str:
    return f"{_LEAD[kind]}{item.title}"[:TITLE_CHARACTERS]
