"""Writing events: in the caller's transaction, in order, and waking readers only once there is something to read."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from scaling import feed
from scaling.clock import FrozenClock
from scaling.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_event_carries_topic_kind_payload_and_the_present_moment(frozen_clock: FrozenClock) -> None:
    event = feed.publish("group:tpu", "limits", {"max": 3})
    stored = Event.objects.get(pk=event.pk)
    assert (stored.topic, stored.kind, stored.payload) == ("group:tpu", "limits", {"max": 3})
    assert stored.at == datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_an_event_may_tell_of_an_earlier_moment() -> None:
    at = datetime(2025, 5, 5, tzinfo=UTC)
    feed.publish("cycle", "done", at=at)
    feed.publish_many([feed.NewEvent("cycle", "done", at=at + timedelta(hours=1))])
    assert [event.at for event in Event.objects.all()] == [at, at + timedelta(hours=1)]


def test_many_events_keep_their_order_and_get_their_ids() -> None:
    before = feed.head()
    rows = feed.publish_many(("slices", "state", {"n": n}) for n in range(1200))
    read = [*feed.read_after(before), *feed.read_after(feed.read_after(before)[-1].position)]
    assert [event.payload["n"] for event in read] == list(range(1200))
    assert [event.position.id for event in read] == [row.pk for row in rows]


def test_publishing_nothing_is_nothing() -> None:
    assert feed.publish_many([]) == []


def test_an_event_of_a_transaction_that_is_undone_never_was() -> None:
    before = feed.head()

    class Undo(Exception):
        pass

    with pytest.raises(Undo), transaction.atomic():
        feed.publish("groups", "changed")
        raise Undo
    assert feed.read_after(before) == []
