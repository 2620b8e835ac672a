"""Which channel was told of which notice: nobody hears that something is over of which he never heard."""

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef

from scaling.models import Notice, NoticeChannel, NoticeDelivery, NoticeTelling


def wants(channel: NoticeChannel, kind: str) -> bool:
    return not channel.kinds or kind in channel.kinds


def tellings_of(rows: Iterable[Notice]) -> set[tuple[int, int]]:
    """(key of a notice, key of a channel) for each message that was made, heard or not."""
    tellings = NoticeTelling.objects.filter(notice__in=[row.pk for row in rows])
    return set(tellings.values_list("notice_id", "channel_id"))


def unheard(channel: NoticeChannel) -> list[Notice]:
    """What was news, still holds and is not silent, and was never meant for this channel though it wants it."""
    tellings = NoticeTelling.objects.filter(notice=OuterRef("pk"), channel=channel)
    rows = Notice.objects.filter(over_at=None, absent_since=None, told_at__isnull=False, quiet=False)
    if channel.kinds:
        rows = rows.filter(kind__in=channel.kinds)
    return list(rows.exclude(Exists(tellings)).order_by("kind", "object"))


def note(rows: Iterable[Notice], members: Sequence[NoticeChannel]) -> None:
    """A message about each of these is made for each of those."""
    tellings = [NoticeTelling(notice=row, channel=channel) for row in rows for channel in members]
    NoticeTelling.objects.bulk_create(tellings, ignore_conflicts=True)


def heard(delivery: NoticeDelivery) -> None:
    """Its channel has taken it."""
    if delivery.notices:
        tellings = NoticeTelling.objects.filter(channel=delivery.channel_id, notice__in=delivery.notices)
        tellings.filter(heard=False).update(heard=True)


def forget_unheard(channel_id: int, notices: Sequence[int] | None = None) -> None:
    """What did not reach the channel (of `notices` only, where given) is told it when it still holds later."""
    tellings = NoticeTelling.objects.filter(channel=channel_id, heard=False)
    (tellings if notices is None else tellings.filter(notice__in=notices)).delete()


def forget_all(channel_id: int) -> None:
    """Somebody else is behind the channel now, who has heard nothing."""
    NoticeTelling.objects.filter(channel=channel_id).delete()
