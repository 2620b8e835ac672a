"""Carries messages: one at a time for each channel, so that one that is down holds up nobody but itself.

A delivery is claimed by a conditional UPDATE that moves its next attempt ahead; the network is asked outside of any
transaction; the answer is stored only while the claim holds. So it is tried at least once, and not again after a
positive answer; whoever dies in between leaves it due again, with the same id.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Min

from scaling import feed
from scaling.history import record
from scaling.models import NoticeChannel, NoticeDelivery
from scaling.notices import channels, handing, hearing, retries
from scaling.notices.errand import Errand, Errands, Order
from scaling.notices.keeping import TOPIC
from scaling.notices.messages import MessageKind
from scaling.notices.options import ATTEMPT_LOST
from scaling.notices.retries import Answer

logger = logging.getLogger(__name__)

# Messages under way at once in one process.
MOST = 4
DUE_READ = 20
GIVEN_UP = "notice_given_up"

Start = Callable[[Order], Errand]


@dataclass(slots=True)
class Carried:
    """A message under way; `answer` is what came back, kept until it is stored."""

    delivery: NoticeDelivery
    errand: Errand
    answer: Answer | None = None

    def is_lost(self, now: datetime) -> bool:
        """Whether its answer need not be kept: a failure whose claim has run out, so that it is due again."""
        return self.answer is not None and not self.answer.ok and self.delivery.next_attempt_at <= now


class Courier:
    """The messages that one process carries. Not shared between threads."""

    def __init__(self, attempts: int, start: Start | None = None) -> None:
        self._attempts = attempts
        self._errands = Errands()
        self._start = start or self._errands.start
        self._under_way: list[Carried] = []

    @property
    def is_busy(self) -> bool:
        return bool(self._under_way)

    def step(self, now: datetime) -> None:
        """Store what came back, and set out with what is due."""
        self._collect(now)
        while self._set_out(now):
            continue
        if not self.is_busy:
            self._errands.rest()

    def _set_out(self, now: datetime) -> bool:
        """Start what is due; whether something was dropped instead, so that the next of its channel is due."""
        busy = {one.delivery.channel_id for one in self._under_way}
        dropped = False
        for delivery in first_due(now):
            if len(self._under_way) >= MOST:
                return False
            if delivery.channel_id in busy or not claim(delivery, now):
                continue
            if handing.is_news(delivery, now):
                self._under_way.append(Carried(delivery, self._start(order_of(delivery))))
                busy.add(delivery.channel_id)
            else:
                dropped = True
        return dropped

    def _collect(self, now: datetime) -> None:
        """Store what came back. What cannot be stored is tried again at the next step, and holds up no other."""
        trouble: Exception | None = None
        for one in list(self._under_way):
            one.answer = one.answer or one.errand.answer()
            if one.answer is None:
                continue
            try:
                settle(one.delivery, one.answer, now, self._attempts)
            except Exception as error:
                trouble = trouble or error
                if not one.is_lost(now):
                    continue
            self._under_way.remove(one)
        if trouble is not None:
            raise trouble

    def end(self) -> None:
        """Kill what is under way: it is due again when its claim runs out."""
        for one in self._under_way:
            one.errand.end()
        self._under_way.clear()
        self._errands.rest()


def first_due(now: datetime) -> list[NoticeDelivery]:
    """The oldest waiting delivery of each channel in use and within reach, where that is due.

    What follows waits for it, so that "over" never comes before what is over.
    """
    waiting = NoticeDelivery.objects.filter(state=NoticeDelivery.State.WAITING)
    reach = waiting.filter(channel__in=NoticeChannel.objects.filter(channels.within_reach(), enabled=True))
    firsts = reach.order_by().values("channel").annotate(first=Min("pk")).values("first")
    due = NoticeDelivery.objects.filter(pk__in=firsts, next_attempt_at__lte=now)
    return list(due.select_related("channel").order_by("next_attempt_at", "id")[:DUE_READ])


def claim(delivery: NoticeDelivery, now: datetime) -> bool:
    """Make this attempt ours; False where another process was first."""
    until, attempts = now + ATTEMPT_LOST, delivery.attempts + 1
    mine = NoticeDelivery.objects.filter(
        pk=delivery.pk,
        state=NoticeDelivery.State.WAITING,
        attempts=delivery.attempts,
        next_attempt_at=delivery.next_attempt_at,
    )
    if not mine.update(attempts=attempts, next_attempt_at=until):
        return False
    delivery.attempts, delivery.next_attempt_at = attempts, until
    return True


def order_of(delivery: NoticeDelivery) -> Order:
    url = channels.url_of(delivery.channel)
    return Order(url, delivery.title, delivery.body, delivery.kind, delivery.message)


@transaction.atomic
def settle(delivery: NoticeDelivery, answer: Answer, now: datetime, attempts: int) -> None:
    """Store the answer of a claimed attempt; a positive one counts even where the claim has run out meanwhile."""
    again = None
    if not answer.ok and delivery.kind != MessageKind.TEST:
        again = retries.next_attempt(delivery.attempts, answer, now, attempts)
    values: dict[str, object] = {"last_error": answer.error[:400]}
    if answer.ok:
        values |= {"state": NoticeDelivery.State.SENT, "finished_at": now}
    elif again is None:
        values |= {"state": NoticeDelivery.State.GIVEN_UP, "finished_at": now}
    else:
        values |= {"next_attempt_at": again}
    mine = NoticeDelivery.objects.filter(pk=delivery.pk, state=NoticeDelivery.State.WAITING)
    if not answer.ok:
        mine = mine.filter(attempts=delivery.attempts)
    if not mine.update(**values):
        return
    if answer.ok:
        hearing.heard(delivery)
    _note(delivery, answer, now)
    if not answer.ok and again is None:
        _give_up(delivery, answer)
    feed.publish(TOPIC, "delivery", {"channel": delivery.channel_id, "ok": answer.ok})


def _note(delivery: NoticeDelivery, answer: Answer, now: datetime) -> None:
    channel = delivery.channel
    failing = bool(channel.last_error)
    values = {"last_ok_at": now, "last_error": ""} if answer.ok else {}
    values = values or {"last_failed_at": now, "last_error": answer.error[:400]}
    NoticeChannel.objects.filter(pk=channel.pk).update(**values)
    if answer.ok and failing:
        logger.info("notice channel works again", extra={"channel": channel.name})
    elif not answer.ok and not failing:
        logger.warning("notice channel fails", extra={"channel": channel.name, "error": answer.error})


def _give_up(delivery: NoticeDelivery, answer: Answer) -> None:
    channel = delivery.channel
    logger.error(
        "notice given up",
        extra={"channel": channel.name, "notice": delivery.message, "attempts": delivery.attempts,
               "error": answer.error},
    )  # fmt: skip
    if delivery.kind != MessageKind.TEST:
        after = {"notice": delivery.message, "title": delivery.title, "attempts": delivery.attempts}
        record(GIVEN_UP, target=f"notice channel {channel.name}", reason=answer.error, outcome="failed", after=after)


def carry(delivery: NoticeDelivery, now: Callable[[], datetime], attempts: int) -> Answer:
    """Carry a claimed delivery at once and wait for the answer: for a person who waits for it too."""
    answer = Errand(order_of(delivery)).wait()
    settle(delivery, answer, now(), attempts)
    return answer
