"""Deliveries: claimed once, tried again, given up; one that fails holds up no other channel."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from scaling import clock
from scaling.clock import FrozenClock
from scaling.models import Action, NoticeChannel, NoticeDelivery
from scaling.notices import channels, courier
from scaling.notices.courier import Courier, claim, first_due, settle
from scaling.notices.errand import Order
from scaling.notices.options import ATTEMPT_LOST
from scaling.notices.retries import Answer

pytestmark = pytest.mark.django_db

OK, DOWN = Answer(ok=True), Answer(ok=False, error="the connection was refused")


class Played:
    """An errand that is answered when and as the test says."""

    def __init__(self, order: Order, answers: dict[str, Answer | None]) -> None:
        self.order, self._answers, self.ended = order, answers, False

    def answer(self) -> Answer | None:
        return self._answers.get(self.order.url, OK)

    def end(self) -> None:
        self.ended = True


def queue(channel: NoticeChannel, title: str = "Stock-out", **fields: Any) -> NoticeDelivery:
    number = NoticeDelivery.objects.count()
    defaults = {"kind": "new", "body": "b", "next_attempt_at": clock.now(), "created_at": clock.now()}
    return NoticeDelivery.objects.create(channel=channel, title=title, message=f"m{number}", **{**defaults, **fields})


@pytest.fixture
def other(db: None) -> NoticeChannel:
    return NoticeChannel.objects.create(name="other", url="json://other/x")


Carrier = Callable[[dict[str, Answer | None]], tuple[Courier, list[Order]]]


def courier_with(answers: dict[str, Answer | None], attempts: int = 10) -> tuple[Courier, list[Order]]:
    orders: list[Order] = []

    def start(order: Order) -> Any:
        orders.append(order)
        return Played(order, answers)

    return Courier(attempts, start), orders


def steps(carrier: Courier, clock_: FrozenClock, number: int, seconds: float = 1) -> None:
    for _ in range(number):
        carrier.step(clock.now())
        clock_.advance(seconds)


def test_a_delivery_is_carried_once_with_its_id_and_address(channel: NoticeChannel, frozen_clock: FrozenClock) -> None:
    delivery = queue(channel)
    carrier, orders = courier_with({})
    steps(carrier, frozen_clock, 3)
    assert orders == [Order("json://127.0.0.1:9/secret", "Stock-out", "b", "new", delivery.message)]
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("sent", 1)
    channel.refresh_from_db()
    assert channel.last_ok_at is not None


def test_a_channel_that_does_not_answer_holds_up_no_other_but_its_own_order(
    channel: NoticeChannel, other: NoticeChannel, frozen_clock: FrozenClock
) -> None:
    for title in ("first", "second"):
        queue(channel, title)
        queue(other, title)
    carrier, orders = courier_with({channel.url: None})
    steps(carrier, frozen_clock, 5)
    assert [(order.url, order.title) for order in orders] == [
        (channel.url, "first"), (other.url, "first"), (other.url, "second"),
    ]  # fmt: skip


def test_a_failure_is_tried_again_later_and_the_next_message_waits_for_it(
    channel: NoticeChannel, frozen_clock: FrozenClock
) -> None:
    answers: dict[str, Answer | None] = {channel.url: DOWN}
    queue(channel, "first")
    queue(channel, "second")
    carrier, orders = courier_with(answers)
    steps(carrier, frozen_clock, 9)
    assert [order.title for order in orders] == ["first"]
    channel.refresh_from_db()
    assert channel.last_error == "the connection was refused"
    steps(carrier, frozen_clock, 5)
    assert [order.title for order in orders] == ["first", "first"]
    answers[channel.url] = OK
    steps(carrier, frozen_clock, 40)
    assert [order.title for order in orders] == ["first", "first", "first", "second"]
    channel.refresh_from_db()
    assert channel.last_error == ""


def test_a_delivery_is_given_up_after_the_most_attempts_and_recorded(
    channel: NoticeChannel, frozen_clock: FrozenClock
) -> None:
    queue(channel)
    carrier, orders = courier_with({channel.url: DOWN}, attempts=3)
    steps(carrier, frozen_clock, 60, seconds=5)
    assert len(orders) == 3
    delivery = NoticeDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.last_error) == ("given_up", 3, "the connection was refused")
    action = Action.objects.get()
    assert (action.kind, action.target, action.outcome) == ("notice_given_up", "notice channel on-call", "failed")
    assert "secret" not in str(action.after) + action.reason


def test_of_two_processes_one_makes_the_attempt(channel: NoticeChannel, now: datetime) -> None:
    queue(channel)
    [mine], [theirs] = first_due(now), first_due(now)
    assert claim(mine, now) and not claim(theirs, now)
    assert first_due(now) == []


def test_an_attempt_whose_process_died_is_due_again_with_the_same_id(channel: NoticeChannel, now: datetime) -> None:
    delivery = queue(channel)
    [mine] = first_due(now)
    claim(mine, now)
    [again] = first_due(now + ATTEMPT_LOST)
    assert (again.pk, again.message, again.attempts) == (delivery.pk, delivery.message, 1)


def test_a_late_positive_answer_counts_and_a_late_negative_one_does_not(channel: NoticeChannel, now: datetime) -> None:
    queue(channel)
    [slow] = first_due(now)
    claim(slow, now)
    [second] = first_due(now + ATTEMPT_LOST)
    claim(second, now + ATTEMPT_LOST)
    settle(slow, DOWN, now, 10)
    assert NoticeDelivery.objects.get().last_error == ""
    settle(slow, OK, now, 10)
    assert NoticeDelivery.objects.get().state == "sent"
    settle(second, DOWN, now, 10)
    assert NoticeDelivery.objects.get().state == "sent"


def test_what_is_under_way_ends_with_its_process(channel: NoticeChannel, now: datetime) -> None:
    queue(channel)
    carrier, _ = courier_with({channel.url: None})
    carrier.step(now)
    assert carrier.is_busy
    carrier.end()
    assert not carrier.is_busy


def test_no_more_than_a_few_are_under_way_at_once(db: None, now: datetime) -> None:
    answers: dict[str, Answer | None] = {}
    for number in range(courier.MOST + 3):
        url = f"json://h/{number}"
        answers[url] = None
        queue(NoticeChannel.objects.create(name=url, url=url))
    carrier, orders = courier_with(answers)
    carrier.step(now)
    carrier.step(now)
    assert len(orders) == courier.MOST


def test_channels_of_the_environment_are_kept_masked_and_go_when_no_process_has_them(
    db: None, now: datetime, settings: Any
) -> None:
    settings.IRIS_NOTICE_URLS = ("slack://TokenA/TokenB/TokenC",)
    channels.note_environment(now)
    channels.note_environment(now)
    row = NoticeChannel.objects.get()
    assert (row.url, row.masked, row.from_environment) == ("", "slack://…", True)
    assert channels.url_of(row) == "slack://TokenA/TokenB/TokenC" and "Token" not in f"{row.name}{row.digest}"
    queue(row)
    settings.IRIS_NOTICE_URLS = ()
    assert channels.url_of(row) == "" and first_due(now) == []
    channels.note_environment(now + timedelta(minutes=59))
    assert NoticeChannel.objects.exists()
    channels.note_environment(now + timedelta(minutes=61))
    assert not NoticeChannel.objects.exists()


class Broken(Exception):
    """What the database raises in these tests."""


@pytest.fixture
def storing(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """While it is not empty, each answer of "on-call" fails to be stored."""
    fails = [True]

    def store(delivery: NoticeDelivery, *given: Any) -> None:
        if fails and delivery.channel.name == "on-call":
            raise Broken
        settle(delivery, *given)

    monkeypatch.setattr(courier, "settle", store)
    return fails


def test_an_answer_that_cannot_be_stored_is_kept_and_holds_up_no_other(
    channel: NoticeChannel, other: NoticeChannel, frozen_clock: FrozenClock, storing: list[bool]
) -> None:
    mine, theirs = queue(channel), queue(other)
    carrier, orders = courier_with({})
    carrier.step(clock.now())
    for _ in range(3):
        with pytest.raises(Broken):
            carrier.step(clock.now())
        frozen_clock.advance(ATTEMPT_LOST.total_seconds())
    theirs.refresh_from_db()
    assert theirs.state == "sent" and carrier.is_busy
    storing.clear()
    carrier.step(clock.now())
    mine.refresh_from_db()
    assert mine.state == "sent" and not carrier.is_busy
    assert len(orders) == 2


def test_a_failure_that_cannot_be_stored_is_forgotten_when_its_claim_has_run_out(
    channel: NoticeChannel, frozen_clock: FrozenClock, storing: list[bool]
) -> None:
    queue(channel)
    carrier, orders = courier_with({channel.url: DOWN})
    carrier.step(clock.now())
    frozen_clock.advance(ATTEMPT_LOST.total_seconds())
    with pytest.raises(Broken):
        carrier.step(clock.now())
    storing.clear()
    carrier.step(clock.now())
    assert len(orders) == 2
