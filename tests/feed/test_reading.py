"""Reading: by topic, within bounds, and honestly about what is no longer there."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from scaling import clock, feed
from scaling.feed import Position
from scaling.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def topics_read(after: Position, *topics: str) -> list[str]:
    return [event.topic for event in feed.read_after(after, topics=topics)]


def test_a_follower_of_the_whole_gets_the_parts_but_not_the_other_way_round() -> None:
    start = feed.head()
    feed.publish_many([(topic, "changed", None) for topic in ("group:a", "groups", "group:b", "slice:a", "groupies:a")])
    assert topics_read(start, "groups") == ["group:a", "groups", "group:b"]
    assert topics_read(start, "group:a") == ["group:a"]
    assert topics_read(start, "group:a", "slices") == ["group:a", "slice:a"]
    assert topics_read(start) == []


@pytest.mark.parametrize("topic", ["group:%", "group:a_b", "group:'; drop table scaling_event; --", "group:ä"])
def test_a_topic_is_matched_as_it_is_written(topic: str) -> None:
    start = feed.head()
    feed.publish_many([(topic, "changed", None), ("group:axb", "changed", None)])
    assert topics_read(start, topic) == [topic]


def test_what_a_topic_reaches_is_itself_and_its_whole() -> None:
    assert feed.reached("group:a:b") == ("group:a:b", "groups")
    assert feed.reached(feed.job_topic("kueue", "7")) == ("job:kueue/7", "jobs")
    assert feed.reached("action:7") == ("action:7",)
    assert feed.reached("cycle") == ("cycle",)


def test_reading_stops_at_a_place_and_at_a_number() -> None:
    start = feed.head()
    feed.publish_many(("cycle", "done", {"n": n}) for n in range(10))
    events = feed.read_after(start)
    assert [e.payload["n"] for e in feed.read_after(start, until=events[4].position)] == [0, 1, 2, 3, 4]
    assert [e.payload["n"] for e in feed.read_after(events[4].position, limit=2)] == [5, 6]


def test_the_head_is_past_everything_that_is_there_and_before_everything_to_come() -> None:
    feed.publish("cycle", "done")
    head = feed.head()
    assert feed.read_after(head) == []
    feed.publish("cycle", "done")
    assert len(feed.read_after(head)) == 1
    assert feed.head() > head


def published(*ages_days: float) -> list[Position]:
    start = feed.head()
    feed.publish_many([feed.NewEvent("cycle", "done", at=MONDAY - timedelta(days=age)) for age in ages_days])
    return [event.position for event in feed.read_after(start)]


def test_pruning_removes_the_old_and_tells_whoever_stopped_before() -> None:
    old, newer, fresh = published(5, 4, 1)
    start = Position(0, 0)
    assert feed.is_complete_after(start)
    assert feed.prune(MONDAY - timedelta(days=2)) == 1
    assert not feed.is_complete_after(start)
    assert not feed.is_complete_after(old)
    assert feed.is_complete_after(newer)
    assert feed.is_complete_after(fresh)
    assert [event.position for event in feed.read_after(newer)] == [fresh]


def test_pruning_everything_leaves_a_mark_and_new_readers_are_served() -> None:
    *_, last = published(5, 4, 3)
    assert feed.prune(MONDAY) == 2
    assert feed.is_complete_after(last)
    assert feed.is_complete_after(feed.head())
    assert not feed.is_complete_after(Position(last.xid, last.id - 1))
    assert feed.prune(MONDAY) == 0


def test_pruning_in_small_batches_comes_to_the_same() -> None:
    *_, last = published(*[9.0] * 25, 1)
    assert feed.prune(MONDAY - timedelta(days=2), batch_rows=4) == 24
    assert Event.objects.count() == 2
    assert not feed.is_complete_after(Position(0, 0))
    assert feed.is_complete_after(last)


def test_a_late_event_about_long_ago_takes_nothing_else_with_it() -> None:
    published(1, 30)
    assert feed.prune(MONDAY - timedelta(days=2)) == 0
    assert Event.objects.count() == 2


def test_a_cursor_from_the_future_of_this_feed_is_not_trusted() -> None:
    feed.publish("cycle", "done")
    head = feed.head()
    assert not feed.is_complete_after(Position(head.xid, head.id + 1))


def test_an_empty_feed_is_complete() -> None:
    assert feed.prune(clock.now()) == 0
    assert feed.is_complete_after(feed.head())


@pytest.mark.postgres
def test_transactions_are_read_in_the_order_of_their_numbers_not_of_their_digits() -> None:
    rows = feed.publish_many([("cycle", "done", {"n": n}) for n in (998, 1000, 99, 10_000)])
    with connection.cursor() as cursor:
        for row in rows:
            cursor.execute(
                "UPDATE scaling_event SET xid = %s::text::xid8 WHERE id = %s", [str(row.payload["n"] // 100), row.pk]
            )
    read = feed.read_after(Position(0, 0))
    assert [event.payload["n"] for event in read] == [99, 998, 1000, 10_000]
    assert [event.position for event in read] == sorted(event.position for event in read)
