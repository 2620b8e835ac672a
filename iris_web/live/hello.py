"""What a client says first: what it shows, and up to where it has seen the feed."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iris_web.access import Role
from iris_web.live import fragments
from iris_web.live.fragments import BadFragment, Fragment, Key, ListFragment
from scaling.feed import BadCursor, Position

MAX_CHARS = 128_000
MAX_FRAGMENTS = 200
MAX_TOPICS = 200
_TOPIC = re.compile(r"[a-z_]{1,40}(:[^\x00-\x1f]{1,200})?")


class MalformedError(ValueError):
    """Raised for a message that no page of ours sends; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A fragment in a client's page; `asof` is how new its content is."""

    fragment: Fragment
    key: Key
    asof: Position
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Hello:
    """`cursor` None: it could not be read. `refusals` name the fragments that this role does not get, and why.

    The events of `topics` are sent one by one: those asked for by name, and those of lists. Other fragments need only
    be rendered when one comes; with a thousand groups that spares every page a thousand events per cycle.
    """

    cursor: Position | None
    shown: tuple[Shown, ...]
    topics: frozenset[str]
    refusals: tuple[str, ...]


def read(text: str, role: Role) -> Hello:
    """Read `{"type": "hello", "cursor", "topics": [...], "fragments": [{"name", "params", "asof"}]}`."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedError("message: expected JSON") from None
    if not isinstance(message, dict) or message.get("type") != "hello":
        raise MalformedError('type: expected "hello"')
    cursor = _position(message.get("cursor"))
    topics = _list(message, "topics", MAX_TOPICS)
    if not all(isinstance(topic, str) and _TOPIC.fullmatch(topic) for topic in topics):
        raise MalformedError("topics: expected names of topics")
    shown, refusals = [], []
    for number, wanted in enumerate(_list(message, "fragments", MAX_FRAGMENTS)):
        if not isinstance(wanted, dict) or not isinstance(wanted.get("params", {}), dict):
            raise MalformedError(f"fragments[{number}]: expected an object with name and params")
        try:
            shown.append(_shown(wanted, role, cursor))
        except BadFragment as bad:
            refusals.append(str(bad))
    told = frozenset(topics).union(*(one.topics for one in shown if isinstance(one.fragment, ListFragment)))
    return Hello(cursor, tuple(shown), told, tuple(refusals))


def _shown(wanted: Mapping[str, Any], role: Role, cursor: Position | None) -> Shown:
    fragment, key = fragments.lookup(str(wanted.get("name")), wanted.get("params") or {}, role)
    asof = _position(wanted.get("asof")) or cursor or Position(0, 0)
    try:
        topics = fragment.topics_of(dict(key.params))
    except (KeyError, ValueError):
        raise BadFragment(f"fragment {key.name!r}: its parameters are not complete") from None
    return Shown(fragment, key, asof, topics)


def _position(value: Any) -> Position | None:
    try:
        return Position.parse(value) if isinstance(value, str) else None
    except BadCursor:
        return None


def _list(message: Mapping[str, Any], name: str, limit: int) -> list[Any]:
    value = message.get(name, [])
    if not isinstance(value, list) or len(value) > limit:
        raise MalformedError(f"{name}: expected a list of at most {limit}")
    return value
