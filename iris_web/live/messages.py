"""The messages that go over the socket: JSON texts, each with a `type`.

`fragment` is worded for htmx's hx-ws extension (`target`, `swap`, `content`); all others are for `static/js/live.js`.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any

from iris_web.live.fragments import Key
from scaling.feed import FeedEvent, Position

# Events of this kind are points of charts: a client that is slow may lose them, and nothing else.
SAMPLE = "sample"


class CloseCode(IntEnum):
    """Why the server ends a socket. After TRY_AGAIN (too slow, or no database) the client comes back by itself."""

    TOO_LARGE = 1009
    TRY_AGAIN = 1013
    MALFORMED = 4400
    SIGNED_OUT = 4401
    CHANGED_ACCESS = 4403


def event_json(event: FeedEvent) -> str:
    return _json(
        id=str(event.position),
        topic=event.topic,
        kind=event.kind,
        payload=event.payload,
        at=event.at.isoformat(timespec="milliseconds"),
    )


def events(texts: Iterable[str], cursor: Position, kind: str = "events") -> str:
    """Events that are JSON already; `kind` is `events`, or `samples` for those that may be dropped."""
    return f'{{"type":"{kind}","cursor":"{cursor}","events":[{",".join(texts)}]}}'


def fragment(key: Key, content: str, asof: Position) -> str:
    """A fragment's new inside, at least as new as `asof`."""
    return _json(
        type="fragment",
        fragment=key.name,
        target=f"#{key.element_id}",
        swap="innerMorph swapEmpty:true",
        content=content,
        asof=str(asof),
    )


def rows(key: Key, new: Sequence[tuple[str, str]], asof: Position) -> str:
    """New rows of a list, oldest first: pairs of element id and HTML."""
    return _json(type="rows", fragment=key.name, target=f"#{key.element_id}", rows=new, asof=str(asof))


def fragment_state(key: Key, state: str) -> str:
    """`failed`: could not be rendered, is tried again; `gone`: what it shows no longer exists."""
    return _json(type=state, fragment=key.name, target=f"#{key.element_id}")


def welcome(cursor: Position, resync: bool) -> str:
    """Ends the answer to a hello: the events up to `cursor` were sent. `resync`: they were not; all is sent anew."""
    return _json(type="welcome", cursor=str(cursor), resync=resync)


def refused(reason: str, target: str = "") -> str:
    return _json(type="refused", reason=reason, target=target)


def resync(cursor: Position) -> str:
    """Events up to `cursor` may have been missed; everything shown is sent anew."""
    return _json(type="resync", cursor=str(cursor))


def state(reachable: bool) -> str:
    """Whether the server itself gets news at present."""
    return _json(type="state", feed="ok" if reachable else "away")


def tick(cursor: Position, behind: Sequence[str], now: datetime) -> str:
    """A sign of life: all up to `cursor` was sent, except to the fragments `behind` (element ids)."""
    return _json(type="tick", cursor=str(cursor), behind=behind, now=now.isoformat(timespec="milliseconds"))


def _json(**fields: Any) -> str:
    return json.dumps(fields, separators=(",", ":"), default=str)
