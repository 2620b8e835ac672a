"""One look: what is wrong is compared with what was told, and what is news becomes messages, in one transaction."""

import logging
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count

from scaling import feed
from scaling.models import Notice, NoticeChannel, NoticeDelivery
from scaling.notices import channels, facts, hearing, messages, news
from scaling.notices.findings import ALL_LOOPS, Finding, Key, told_time
from scaling.notices.kinds import NoticeKind
from scaling.notices.messages import Item, MessageKind
from scaling.notices.news import Change, Known, Step
from scaling.notices.options import SHORTLY, Options

logger = logging.getLogger(__name__)

TOPIC = "notices"
# Notices over within this count as flapping of the same object.
FLAPS_WITHIN = timedelta(hours=1)
_SENT_AS = {Step.TELL: MessageKind.NEW, Step.AGAIN: MessageKind.AGAIN, Step.OVER: MessageKind.OVER}


def look(now: datetime, watching_since: datetime, options: Options) -> int:
    """Compare and store; how many notices changed. The caller has claimed this look: nobody else makes it meanwhile.

    Most looks find nothing to store: they only read, so that no other writer waits for them.
    """
    rows = {_key(row): row for row in Notice.objects.filter(over_at=None)}
    told = frozenset(key for key, row in rows.items() if row.told_at)
    found = facts.find(now, watching_since, options.waiting, told, options.rules.settle)
    may_tell = _messages_since(now - SHORTLY) < options.one_by_one
    changes = _decide(rows.values(), found, now, options, may_tell)
    to_store = any(_is_to_be_stored(rows.get(change.key), change, now) for change in changes)
    if not to_store and not (may_tell and _latecomers(now)):
        return 0
    return _store(found, now, options, may_tell)


def _decide(
    rows: Iterable[Notice], found: Sequence[Finding], now: datetime, options: Options, may_tell: bool
) -> list[Change]:
    return news.decide([_known(row, now) for row in rows], found, now, options.rules, may_tell=may_tell)


@transaction.atomic
def _store(found: Sequence[Finding], now: datetime, options: Options, may_tell: bool) -> int:
    """Decide again on locked rows, since a person may have acknowledged one meanwhile, and store that."""
    rows = {_key(row): row for row in Notice.objects.select_for_update().filter(over_at=None)}
    changes = _decide(rows.values(), found, now, options, may_tell)
    flaps = _flaps(now) if any(change.step is Step.OPEN for change in changes) else {}
    for change in changes:
        if change.step is Step.OPEN and change.finding is not None:
            rows[change.key] = _open(change.finding, change.quiet, flaps.get(change.key, 0), now)
    changed = sum([_apply(rows[change.key], change, now) for change in changes])
    for step, kind in _SENT_AS.items():
        _send(kind, [rows[change.key] for change in changes if change.step is step], options, now)
    if may_tell:
        changed += _tell_latecomers(options, now)
    if changed:
        feed.publish(TOPIC, "changed", {"notices": changed})
    return changed


def _key(row: Notice) -> Key:
    return NoticeKind(row.kind), row.object


def _known(row: Notice, now: datetime) -> Known:
    return Known(
        kind=NoticeKind(row.kind),
        object=row.object,
        opened=row.opened_at,
        told=row.told_at,
        absent=row.absent_since,
        acknowledged=is_acknowledged(row, now),
        quiet=row.quiet,
        flaps=row.flaps,
    )


def is_acknowledged(row: Notice, now: datetime) -> bool:
    until = row.acknowledged_until
    return row.acknowledged_at is not None and (until is None or now < until)


def _flaps(now: datetime) -> dict[Key, int]:
    lately = Notice.objects.filter(over_at__gt=now - FLAPS_WITHIN, told_at__isnull=False)
    return dict(news.count_flaps(_key(row) for row in lately))


def _open(finding: Finding, quiet: bool, flaps: int, now: datetime) -> Notice:
    return Notice.objects.create(
        kind=finding.kind,
        object=finding.object,
        title=finding.title[:300],
        text=finding.text,
        page=finding.page,
        since=finding.since,
        opened_at=now,
        quiet=quiet,
        flaps=flaps,
    )


def _apply(row: Notice, change: Change, now: datetime) -> bool:
    """Store what became of one notice; whether anything did."""
    if change.step is Step.FORGET and row.object != ALL_LOOPS:
        row.delete()
        return True
    values = _values(row, change, now)
    if values:
        Notice.objects.filter(pk=row.pk).update(**values)
        for name, value in values.items():
            setattr(row, name, value)
    if change.step in _SENT_AS:
        logger.info("notice", extra={"kind": row.kind, "object": row.object, "step": change.step.value})
    return bool(values) or change.step is Step.OPEN


def _is_to_be_stored(row: Notice | None, change: Change, now: datetime) -> bool:
    return row is None or change.step is Step.FORGET or bool(_values(row, change, now))


def _values(row: Notice, change: Change, now: datetime) -> dict[str, object]:
    """What differs from what is stored."""
    values: dict[str, object] = {}
    if change.finding is not None:
        values = {"title": change.finding.title[:300], "text": change.finding.text, "page": change.finding.page,
                  "quiet": change.quiet, "absent_since": None}  # fmt: skip
    if change.step in (Step.TELL, Step.AGAIN):
        values["told_at"] = now
    elif change.step is Step.ABSENT:
        values["absent_since"] = now
    elif change.step is Step.FORGET:
        # Though nobody heard of it: the loops that were silent with it count from here.
        values |= {"absent_since": now, "over_at": now}
    elif change.step is Step.OVER:
        values["over_at"] = now
    return {name: value for name, value in values.items() if getattr(row, name) != value}


def _messages_since(moment: datetime) -> int:
    """How many the channel that got the most has got."""
    rows = NoticeDelivery.objects.filter(created_at__gt=moment).exclude(kind=MessageKind.TEST)
    counts = rows.order_by().values("channel").annotate(n=Count("pk")).values_list("n", flat=True)
    return max(counts, default=0)


def _send(kind: MessageKind, rows: Sequence[Notice], options: Options, now: datetime) -> None:
    """A delivery for each message and each channel that wants it. Channels told of the same share messages.

    What still holds or is over goes to those who were told of it.
    """
    if not rows:
        return
    told = None if kind is MessageKind.NEW else hearing.tellings_of(rows)
    groups: dict[tuple[int, ...], list[NoticeChannel]] = {}
    for channel in channels.in_use():
        if kind is not MessageKind.OVER or channel.tell_over:
            chosen = (row for row in rows if told is None or (row.pk, channel.pk) in told)
            groups.setdefault(tuple(row.pk for row in chosen if hearing.wants(channel, row.kind)), []).append(channel)
    for keys, members in groups.items():
        if keys:
            _queue(kind, [row for row in rows if row.pk in keys], members, options, now)


def _tell_latecomers(options: Options, now: datetime) -> int:
    """One message to each channel in use about what it has not heard: a new one, or one that wants more than before."""
    told = 0
    for channel, rows in _latecomers(now):
        _queue(MessageKind.OPEN, rows, [channel], replace(options, one_by_one=1), now)
        told += len(rows)
    return told


def _latecomers(now: datetime) -> list[tuple[NoticeChannel, list[Notice]]]:
    unheard = [
        (channel, [row for row in hearing.unheard(channel) if not is_acknowledged(row, now)])
        for channel in channels.in_use()
    ]
    return [(channel, rows) for channel, rows in unheard if rows]


def _queue(
    kind: MessageKind, rows: Sequence[Notice], members: Sequence[NoticeChannel], options: Options, now: datetime
) -> None:
    items = [item_of(row, kind) for row in rows]
    hearing.note(rows, members)
    composed = messages.compose(kind, items, options.site, options.one_by_one)
    for number, message in enumerate(composed):
        identity = secrets.token_hex(6)
        about = rows if len(composed) == 1 else rows[number : number + 1]
        Notice.objects.filter(pk__in=[row.pk for row in about]).update(message=identity)
        NoticeDelivery.objects.bulk_create(
            NoticeDelivery(
                channel=channel, message=identity, kind=kind, title=message.title,
                body=messages.signed(message.body, identity), notices=[row.pk for row in about],
                next_attempt_at=now, created_at=now,
            )
            for channel in members
        )  # fmt: skip


def item_of(row: Notice, kind: MessageKind) -> Item:
    page = row.page
    if kind is MessageKind.OVER:
        return Item(row.kind, row.title, f"It was so since {told_time(row.since)}.", page)
    return Item(row.kind, row.title, row.text, page)
