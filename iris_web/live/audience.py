"""Who follows what in this process: sockets, the fragments they show, and who gets an event."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from iris_web.live import messages
from iris_web.live.fragments import Key
from iris_web.live.hello import Hello, Shown
from iris_web.live.outbox import Outbox
from iris_web.live.renderings import Rendering
from iris_web.live.sessions import Access
from scaling import feed
from scaling.feed import FeedEvent, Position

_CHUNK_CHARS = 64_000


@dataclass(eq=False, slots=True)
class Socket:
    """One client. `through`: up to there its hello was answered, later events come live; None before the hello."""

    session_key: str
    access: Access
    end: Callable[[messages.CloseCode, str], None]
    outbox: Outbox = field(default_factory=Outbox)
    topics: frozenset[str] = frozenset()
    renderings: dict[Key, Rendering] = field(default_factory=dict)
    through: Position | None = None


@dataclass(frozen=True, slots=True)
class _Reaching:
    event: FeedEvent
    topics: tuple[str, ...]


class Audience:
    """All sockets of a process. `render` makes the Rendering of a fragment that nobody showed before."""

    def __init__(self, render: Callable[[Shown], Rendering]) -> None:
        self.sockets: set[Socket] = set()
        self.renderings: dict[Key, Rendering] = {}
        self._followers: dict[str, set[Rendering]] = defaultdict(set)
        self._render = render

    def enter(self, socket: Socket, hello: Hello) -> None:
        """From now on the socket gets what its hello asks for, and nothing else."""
        socket.topics = hello.topics
        wanted = {one.key: one for one in hello.shown}
        self.forget(socket, [key for key in socket.renderings if key not in wanted])
        for key, one in wanted.items():
            socket.renderings[key] = rendering = self._rendering(one)
            rendering.sockets.add(socket.outbox)

    def leave(self, socket: Socket) -> None:
        self.sockets.discard(socket)
        self.forget(socket, list(socket.renderings))

    def forget(self, socket: Socket, keys: Iterable[Key]) -> None:
        """The socket no longer shows these; what nobody shows is no longer rendered."""
        for key in keys:
            rendering = socket.renderings.pop(key)
            rendering.leave(socket.outbox)
            if not rendering.sockets:
                rendering.stop()
                del self.renderings[key]
                for topic in rendering.topics:
                    self._followers[topic].discard(rendering)
                    if not self._followers[topic]:
                        del self._followers[topic]

    def say(self, text: str) -> None:
        for socket in self.sockets:
            socket.outbox.put(text)

    def deliver(self, events: Sequence[FeedEvent]) -> None:
        """Send each socket the events of its topics, the same bytes to all that follow the same, and render."""
        reaching = [_Reaching(event, feed.reached(event.topic)) for event in events]
        prepared: dict[frozenset[str], list[tuple[str, bool]]] = {}
        for socket in self.sockets:
            if socket.through is None:
                continue
            if socket.through >= events[0].position:
                later = [one for one in reaching if one.event.position > socket.through]
                texts = event_messages(_of(later, socket.topics))
            else:
                texts = prepared.get(socket.topics) or event_messages(_of(reaching, socket.topics))
                prepared[socket.topics] = texts
            for text, droppable in texts:
                socket.outbox.put(text, droppable=droppable)
        self._touch(reaching)

    def _touch(self, reaching: list[_Reaching]) -> None:
        news: dict[Rendering, list[FeedEvent]] = defaultdict(list)
        for one in reaching:
            for rendering in set().union(*(self._followers.get(topic, ()) for topic in one.topics)):
                news[rendering].append(one.event)
        for rendering, own in news.items():
            rendering.touch(own)

    def _rendering(self, shown: Shown) -> Rendering:
        known = self.renderings.get(shown.key)
        if known is None:
            known = self.renderings[shown.key] = self._render(shown)
            for topic in known.topics:
                self._followers[topic].add(known)
        return known


def event_messages(events: Sequence[FeedEvent]) -> list[tuple[str, bool]]:
    """The messages that carry these events, each with whether it may be dropped: points of charts go by themselves."""
    told: list[tuple[str, bool]] = []
    for droppable in (False, True):
        own = [event for event in events if (event.kind == messages.SAMPLE) == droppable]
        kind = "samples" if droppable else "events"
        told += [(messages.events(texts, cursor, kind), droppable) for texts, cursor in _chunks(own)]
    return told


def _chunks(events: Sequence[FeedEvent]) -> Iterator[tuple[list[str], Position]]:
    """The events as JSON in portions that make no huge frame, each with the place of its last."""
    texts: list[str] = []
    chars = 0
    for number, event in enumerate(events):
        texts.append(messages.event_json(event))
        chars += len(texts[-1])
        if chars >= _CHUNK_CHARS or number == len(events) - 1:
            yield texts, event.position
            texts, chars = [], 0


def _of(reaching: Iterable[_Reaching], topics: frozenset[str]) -> list[FeedEvent]:
    return [one.event for one in reaching if not topics.isdisjoint(one.topics)]
