"""The words that are sent. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

TITLE_CHARACTERS = 200
LISTED = 20


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
    """A message for each item, or one for all where they are more than `one_by_one`. `site` "": paths for links."""
    if len(items) <= one_by_one:
        return [Message(kind, _title(kind, item), f"{item.text}\n{site}{item.page}") for item in items]
    lines = [f"- {_LEAD[kind]}{item.title}" for item in items[:LISTED]]
    if len(items) > LISTED:
        lines.append(f"- and {len(items) - LISTED} more")
    pages = sorted({item.page for item in items})
    links = [f"{site}{page}" for page in pages]
    return [Message(kind, _MANY[kind].format(len(items)), "\n".join([*lines, *links]))]


def trial(channel: str, site: str) -> Message:
    text = f'A test of the notice channel "{channel}". Nothing is wrong.\n{site}/settings/#notices'
    return Message(MessageKind.TEST, "Test: this is only a test", text)


def signed(body: str, message_id: str) -> str:
    """With the id by which a message that came twice is known."""
    return f"{body}\nIris notice {message_id}"


def _title(kind: MessageKind, item: Item) -> str:
    return f"{_LEAD[kind]}{item.title}"[:TITLE_CHARACTERS]
