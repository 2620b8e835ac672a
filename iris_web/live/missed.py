"""What a client missed between its last event and now. Runs in a thread: it reads the database."""

from dataclasses import dataclass, field

from iris_web.live.fragments import Key, ListFragment
from iris_web.live.hello import Hello, Shown
from iris_web.live.renderings import MAX_ROW_EVENTS
from scaling import feed
from scaling.feed import FeedEvent, Position

# Whoever missed more than this gets everything anew: that is less work for both sides.
MAX_EVENTS = 5000


@dataclass(frozen=True, slots=True)
class Missed:
    """`events` came after the client's cursor; `rows` are news of lists; `whole` fragments are to be rendered again.

    `resync`: the feed cannot tell, or it is too much; everything is sent anew and no single events.
    """

    resync: bool = False
    events: list[FeedEvent] = field(default_factory=list)
    rows: dict[Key, list[FeedEvent]] = field(default_factory=dict)
    whole: frozenset[Key] = frozenset()


RESYNC = Missed(resync=True)


def what_was_missed(cursor: Position | None, hello: Hello, here: Position) -> Missed:
    """What happened up to `here`. `cursor` may be ahead of `here`: other web processes read the feed as well."""
    if cursor is None or cursor > max(here, feed.head()):
        return RESYNC
    if not feed.is_complete_after(min([cursor, *(one.asof for one in hello.shown)])):
        return RESYNC
    lists = [one for one in hello.shown if isinstance(one.fragment, ListFragment)]
    told = _read(min([cursor, *(one.asof for one in lists)]), here, hello.topics)
    if len(told) > MAX_EVENTS:
        return RESYNC
    rows = {one.key: [event for event in told if event.position > one.asof and _reaches(event, one)] for one in lists}
    whole = {key for key, news in rows.items() if len(news) > MAX_ROW_EVENTS}
    whole |= {one.key for one in hello.shown if one not in lists and _read(one.asof, here, one.topics, limit=1)}
    return Missed(
        events=[event for event in told if event.position > cursor],
        rows={key: news for key, news in rows.items() if news and key not in whole},
        whole=frozenset(whole),
    )


def _read(since: Position, here: Position, topics: frozenset[str], limit: int = 0) -> list[FeedEvent]:
    """Events that reach `topics`, after `since` and up to `here`: `limit`, or one more than MAX_EVENTS."""
    if since >= here or not topics:
        return []
    return feed.read_after(since, topics=topics, until=here, limit=limit or MAX_EVENTS + 1)


def _reaches(event: FeedEvent, shown: Shown) -> bool:
    return not shown.topics.isdisjoint(feed.reached(event.topic))
