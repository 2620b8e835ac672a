"""Who heard of what: a channel that comes late is told once, and nobody hears the end of what he never heard."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from scaling import clock, operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Marker, Notice, NoticeChannel, NoticeDelivery, NoticeTelling
from scaling.notices.courier import Courier
from scaling.notices.errand import Order
from scaling.notices.retries import Answer
from scaling.testing import builders
from tests.notices.conftest import Look, titles

pytestmark = pytest.mark.django_db


class Played:
    """An errand that is answered at once."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def answer(self) -> Answer:
        return self._answer

    def end(self) -> None:
        """There is nothing to end."""


def carry(*, ok: bool = True, attempts: int = 10) -> list[str]:
    """Carry what is due; the titles that were handed over."""
    handed: list[str] = []

    def start(order: Order) -> Any:
        handed.append(order.title)
        return Played(Answer(ok, "" if ok else "the connection was refused"))

    carrier = Courier(attempts, start)
    carrier.step(clock.now())
    while carrier.is_busy:
        carrier.step(clock.now())
    return handed


def stock_out(*groups: str) -> None:
    for group in groups:
        builders.make_marker(builders.make_group(group), clock.now(), kind="stockout")


def end(look: Look, frozen_clock: FrozenClock, *groups: str) -> None:
    """Close the markers of these, or of all, and let the settle time pass."""
    rows = Marker.objects.filter(group__name__in=groups) if groups else Marker.objects.all()
    rows.update(closed_at=clock.now())
    look()
    frozen_clock.advance(60)
    look()


def named(body: str) -> list[str]:
    """What a message for several names, without what it says of each."""
    return [line for line in body.splitlines() if line.startswith("- ")]


def test_a_new_channel_is_told_once_of_what_is_open_in_one_message(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stock_out("a", "b")
    look()
    late = NoticeChannel.objects.create(name="late", url="json://late")
    for _ in range(3):
        frozen_clock.advance(61)
        look()
    assert titles(channel=late) == ["2 notices are open"] and titles(channel=channel) == [
        "Stock-out: a",
        "Stock-out: b",
    ]
    body = NoticeDelivery.objects.get(channel=late).body
    assert named(body) == ["- Stock-out: a", "- Stock-out: b"]


def test_what_nobody_could_hear_is_told_to_the_first_channel(look: Look, now: datetime) -> None:
    stock_out("a")
    look()
    assert not NoticeTelling.objects.exists()
    NoticeChannel.objects.create(name="clouds", url="json://b", kinds=["platform_unreachable"])
    late = NoticeChannel.objects.create(name="late", url="json://a")
    look()
    assert titles() == titles(channel=late) == ["Stock-out: a"]


def test_a_channel_that_never_heard_of_it_gets_no_over(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stock_out("a")
    look()
    carry()
    Marker.objects.update(closed_at=clock.now())
    look()
    late = NoticeChannel.objects.create(name="late", url="json://late")
    frozen_clock.advance(60)
    look()
    assert titles(channel=late) == [] and titles(channel=channel) == ["Stock-out: a", "Over: Stock-out: a"]
    assert carry() == ["Over: Stock-out: a"]


def test_a_channel_that_is_switched_on_again_hears_what_it_missed_and_no_more(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock, actor: Actor
) -> None:
    stock_out("heard")
    look()
    carry()
    stock_out("waiting")
    look()
    operations.set_channel(actor, channel.pk, None, {"enabled": False})
    stock_out("missed")
    frozen_clock.advance(61)
    look()
    operations.set_channel(actor, channel.pk, None, {"enabled": True})
    look()
    look()
    assert carry() == ["2 notices are open"]
    assert named(NoticeDelivery.objects.latest("id").body) == ["- Stock-out: missed", "- Stock-out: waiting"]


def test_what_is_acknowledged_is_not_told_to_a_late_channel(
    channel: NoticeChannel, look: Look, now: datetime, actor: Actor
) -> None:
    stock_out("a")
    look()
    operations.acknowledge_notice(actor, Notice.objects.get().pk, "known", clock.now() + timedelta(hours=1))
    late = NoticeChannel.objects.create(name="late", url="json://late")
    look()
    assert titles(channel=late) == []


def test_a_notice_whose_condition_is_gone_before_it_is_handed_over_is_dropped_and_so_is_its_end(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stock_out("a", "b")
    look()
    end(look, frozen_clock, "a")
    assert carry() == ["Stock-out: b"]
    assert list(NoticeDelivery.objects.values_list("state", flat=True)) == ["dropped", "sent", "dropped"]
    end(look, frozen_clock)
    assert carry() == ["Over: Stock-out: b"]


def test_what_was_dropped_and_comes_back_is_told_after_all(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stock_out("a")
    look()
    Marker.objects.update(closed_at=clock.now())
    look()
    assert carry() == []
    Marker.objects.update(closed_at=None)
    look()
    assert carry() == ["Stock-out: a"]
    end(look, frozen_clock)
    assert carry() == ["Over: Stock-out: a"]


def test_of_a_grouped_message_only_what_still_holds_is_handed_over(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stock_out("a", "b", "c", "d")
    look()
    Marker.objects.filter(group__name__in=["a", "c"]).update(closed_at=clock.now())
    look()
    assert carry() == ["2 notices at once"]
    delivery = NoticeDelivery.objects.get()
    assert named(delivery.body) == ["- Stock-out: b", "- Stock-out: d"] and delivery.body.endswith(delivery.message)
    end(look, frozen_clock)
    assert carry() == ["Over: Stock-out: b", "Over: Stock-out: d"]


def test_what_was_given_up_was_not_heard_and_has_no_end(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stock_out("a")
    look()
    assert carry(ok=False, attempts=1) == ["Stock-out: a"]
    look()
    end(look, frozen_clock)
    assert carry() == []
    assert list(NoticeDelivery.objects.values_list("state", flat=True)) in (["given_up"], ["given_up", "dropped"])
