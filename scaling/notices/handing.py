"""A last look at a message before it is handed to its channel: what is no news any more is dropped from it."""

from datetime import datetime

from django.db import transaction

from scaling import feed
from scaling.models import Notice, NoticeDelivery
from scaling.notices import hearing, messages, options
from scaling.notices.keeping import TOPIC, item_of
from scaling.notices.messages import MessageKind


@transaction.atomic
def is_news(delivery: NoticeDelivery, now: datetime) -> bool:
    """Whether a claimed delivery is to be sent; False: it was dropped. One that is news in part is worded anew.

    A condition that is gone is no news, though it may come back: then it is told like to a channel that comes late.
    """
    if not delivery.notices:
        return True
    left = _left(delivery)
    if len(left) == len(delivery.notices):
        return True
    keys = [row.pk for row in left]
    if delivery.kind != MessageKind.OVER:
        hearing.forget_unheard(delivery.channel_id, [key for key in delivery.notices if key not in keys])
    if left:
        _word_anew(delivery, left)
    else:
        _drop(delivery, now)
    return bool(left)


def _left(delivery: NoticeDelivery) -> list[Notice]:
    rows = Notice.objects.filter(pk__in=delivery.notices).order_by("kind", "object")
    if delivery.kind == MessageKind.OVER:
        return list(rows.filter(tellings__channel=delivery.channel_id, tellings__heard=True))
    return list(rows.filter(over_at=None, absent_since=None))


def _word_anew(delivery: NoticeDelivery, left: list[Notice]) -> None:
    kind = MessageKind(delivery.kind)
    [message] = messages.compose(kind, [item_of(row, kind) for row in left], options.read().site, one_by_one=1)
    delivery.notices = [row.pk for row in left]
    delivery.title, delivery.body = message.title, messages.signed(message.body, delivery.message)
    delivery.save(update_fields=["notices", "title", "body"])


def _drop(delivery: NoticeDelivery, now: datetime) -> None:
    mine = NoticeDelivery.objects.filter(pk=delivery.pk, state=NoticeDelivery.State.WAITING)
    mine.update(state=NoticeDelivery.State.DROPPED, finished_at=now, last_error="it was no news any more")
    feed.publish(TOPIC, "delivery", {"channel": delivery.channel_id, "ok": True})
