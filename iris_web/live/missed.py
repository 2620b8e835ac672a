"""What a client missed between its last event and now. Runs in a thread: it reads the database."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from iris_web.live.fragments import Key, ListFragment
from iris_web.live.hello import Shown
from iris_web.live.renderings import MAX_ROW_EVENTS
from scaling import feed
from scaling.feed import FeedEvent, Position

# Whoever missed more than this gets everything anew: that is less work for both sides.
MAX_EVENTS = 5000


@dataclass(frozen=True, slots=True)
class Missed:
    """`events` came after the client's cursor; `news` after each fragment's own; `whole` are to be rendered again.

    `resync`: the feed cannot tell, or it is too much; everything is sent anew and no single events.
    """

    resync: bool = False
    events: list[FeedEvent] = field(default_factory=list)
    news: dict[Key, list[FeedEvent]] = field(default_factory=dict)
    whole: frozenset[Key] = frozenset()


RESYNC = Missed(resync=True)


def what_was_missed(cursor: Position | None, shown: Sequence[Shown], topics: frozenset[str], here: Position) -> Missed:
    """What happened up to `here`. `cursor` may be ahead of `here`: other web processes read the feed as well."""
    if cursor is None or cursor > max(here, feed.head()):
        return RESYNC
    since = min([cursor, *(one.asof for one in shown)])
    if not feed.is_complete_after(since):
        return RESYNC
    read = _read(since, here, topics)
    if len(read) > MAX_EVENTS:
        return RESYNC
    news = {one.key: [event for event in read if event.position > one.asof and _reaches(event, one)] for one in shown}
    whole = {
        one.key
        for one in shown
        if news[one.key] and (not isinstance(one.fragment, ListFragment) or len(news[one.key]) > MAX_ROW_EVENTS)
    }
    return Missed(False, [event for event in read if event.position > cursor], news, frozenset(whole))


def _read(since: Position, here: Position, topics: frozenset[str]) -> list[FeedEvent]:
    """Events after `since` up to `here`; one more than MAX_EVENTS when there are more."""
    if since >= here:
        return []
    return feed.read_after(since, topics=topics, until=here, limit=MAX_EVENTS + 1)


def _reaches(event: FeedEvent, shown: Shown) -> bool:
    return not shown.topics.isdisjoint(feed.reached(event.topic))
