"""The append-only feed that pages and clients follow: writers publish, readers tail.

The Event table is the truth. `publish` inserts in the caller's transaction; hints and notifications only make readers
look sooner. Readers get every event exactly once and in one order, whatever the number of writers.
"""

from scaling.feed.positions import BadCursor, Position
from scaling.feed.publishing import NewEvent, publish, publish_many
from scaling.feed.reading import FeedEvent, has_unread, head, is_complete_after, prune, read_after
from scaling.feed.tail import Listening, Tail
from scaling.feed.topics import job_topic, reached

__all__ = [
    "BadCursor",
    "FeedEvent",
    "Listening",
    "NewEvent",
    "Position",
    "Tail",
    "has_unread",
    "head",
    "is_complete_after",
    "job_topic",
    "prune",
    "publish",
    "publish_many",
    "reached",
    "read_after",
]
