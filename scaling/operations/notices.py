"""Acts on notices: channels (made, changed, removed, tested) and the acknowledgement of a notice.

A channel's address is a secret: the history tells that it was changed, never what it is.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from scaling import clock, feed
from scaling.history import Actor, record
from scaling.models import Notice, NoticeChannel, NoticeDelivery
from scaling.notices import addresses, channels, courier, hearing, messages
from scaling.notices.errand import service_of
from scaling.notices.keeping import TOPIC
from scaling.notices.kinds import NoticeKind
from scaling.notices.messages import MessageKind
from scaling.notices.options import ATTEMPT_LOST
from scaling.notices.retries import Answer
from scaling.operations.acknowledging import check_unseen
from scaling.operations.acts import ActKind, read_act, when
from scaling.operations.changes import change, check_version, find, write
from scaling.operations.errors import InvalidRequest, OperationRefused
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Flag, JsonSchema, Text

ADDRESS_CHARACTERS = 2000
# A test is a message to people: one at a time.
TEST_PAUSE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a channel. No sentence about it tells any of it."""

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError("expected an address as text")
        url = value.strip()
        if len(url) > ADDRESS_CHARACTERS:
            raise ValueError(f"expected at most {ADDRESS_CHARACTERS:,} characters, got {len(url):,}")
        addresses.check_form(url)
        return url

    def schema(self) -> JsonSchema:
        return {"type": "string", "maxLength": ADDRESS_CHARACTERS, "minLength": 1}


@dataclass(frozen=True, slots=True)
class Conditions:
    """Some of the conditions; none of them means all."""

    def read(self, value: object) -> list[str]:
        known = [kind.value for kind in NoticeKind]
        if not isinstance(value, Sequence) or isinstance(value, str) or any(word not in known for word in value):
            raise ValueError(f"expected a list of {', '.join(known)}")
        return [word for word in known if word in value]

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": {"type": "string", "enum": [kind.value for kind in NoticeKind]}}


CHANNEL_FIELDS = FieldTable(
    [
        Field("name", Text(100, required=True), "What people call it.", required=True),
        Field("url", Address(), "Its address with its secret.", required=True),
        Field("kinds", Conditions(), "What it is told of; none = everything."),
        Field("enabled", Flag(), "Whether anything is sent to it."),
        Field("tell_over", Flag(), "Whether it is told when something is over."),
    ]
)


def create_channel(
    actor: Actor,
    name: str,
    url: str,
    kinds: Sequence[str] = (),
    enabled: bool = True,
    tell_over: bool = True,
    reason: str = "",
) -> NoticeChannel:
    """A new channel; refused where the notification library has no service for its address.

    Asking the library takes a second: not to be called inside a transaction.
    """
    given = CHANNEL_FIELDS.read(
        {"name": name, "url": url, "kinds": list(kinds), "enabled": enabled, "tell_over": tell_over}
    )
    reason = read_act(reason=reason)["reason"]
    _check_service(given["url"])
    with transaction.atomic():
        _check_name(given["name"])
        channel = NoticeChannel.objects.create(**given, masked=addresses.masked(given["url"]))
        after = {**given, "url": channel.masked}
        record(ActKind.CREATE_CHANNEL, actor=actor, target=_target(channel), reason=reason, after=after)
        _announce()
    return channel


def set_channel(
    actor: Actor, channel_id: int, version: int | None, changes: Mapping[str, Any], reason: str = ""
) -> NoticeChannel:
    """Change some of CHANNEL_FIELDS. Of a channel of the environment neither name nor address can be changed.

    Switched off, what waits for it is given up. Not to be called inside a transaction where `url` is changed.
    """
    given = CHANNEL_FIELDS.only(changes).read(changes) if set(changes) <= set(CHANNEL_FIELDS) else None
    if given is None:
        raise InvalidRequest(f"expected some of {', '.join(CHANNEL_FIELDS)}")
    reason = read_act(reason=reason)["reason"]
    if "url" in given:
        _check_service(given["url"])
    with transaction.atomic():
        channel = find(NoticeChannel, "pk", channel_id)
        check_version(channel, version)
        _check_editable(channel, given)
        _change(actor, channel, given, reason)
        _announce()
    return channel


def _check_editable(channel: NoticeChannel, given: Mapping[str, Any]) -> None:
    fixed = next((name for name in ("name", "url") if channel.from_environment and name in given), None)
    if fixed:
        raise OperationRefused("this channel is of the environment: change IRIS_NOTICE_URLS", fixed)
    if given.get("name", channel.name) != channel.name:
        _check_name(given["name"])


def _change(actor: Actor, channel: NoticeChannel, given: Mapping[str, Any], reason: str) -> None:
    masked, new_address = channel.masked, "url" in given and given["url"] != channel.url
    if new_address:
        write(channel, {"url": given["url"], "masked": addresses.masked(given["url"]), "last_error": ""})
        hearing.forget_all(channel.pk)
    rest = {name: value for name, value in given.items() if name != "url"}
    moved = any(getattr(channel, name) != value for name, value in rest.items())
    what = f"notice channel {channel.name}"
    before, after = change(channel, rest, what) if moved or not new_address else ({}, {})
    if new_address:
        before, after = {**before, "url": masked}, {**after, "url": f"{channel.masked} (changed)"}
    if after.get("enabled") is False:
        _give_up_waiting(channel)
    record(ActKind.SET_CHANNEL, actor=actor, target=_target(channel), reason=reason, before=before, after=after)


def _give_up_waiting(channel: NoticeChannel) -> None:
    channel.deliveries.filter(state=NoticeDelivery.State.WAITING).update(
        state=NoticeDelivery.State.GIVEN_UP, last_error="the channel was switched off", finished_at=clock.now()
    )
    hearing.forget_unheard(channel.pk)


@transaction.atomic
def remove_channel(actor: Actor, channel_id: int, reason: str = "", version: int | None = None) -> None:
    """The channel and what waits for it are forgotten."""
    channel = find(NoticeChannel, "pk", channel_id)
    check_version(channel, version)
    reason = read_act(reason=reason)["reason"]
    if channel.from_environment:
        raise OperationRefused("this channel is of the environment: take it out of IRIS_NOTICE_URLS")
    before = {"name": channel.name, "url": channel.masked, "kinds": channel.kinds, "enabled": channel.enabled}
    record(ActKind.REMOVE_CHANNEL, actor=actor, target=_target(channel), reason=reason, before=before)
    channel.delete()
    _announce()


def send_test(actor: Actor, channel_id: int) -> Answer:
    """Send a message that says it is a test, and wait for the outcome (seconds). Not inside a transaction."""
    delivery = _order_test(actor, channel_id)
    return courier.carry(delivery, clock.now, attempts=1)


@transaction.atomic
def _order_test(actor: Actor, channel_id: int) -> NoticeDelivery:
    channel = find(NoticeChannel, "pk", channel_id)
    now = clock.now()
    if channel.deliveries.filter(kind=MessageKind.TEST, created_at__gt=now - TEST_PAUSE).exists():
        raise OperationRefused(f"wait {TEST_PAUSE.seconds} s: {channel.name} was tested a moment ago")
    if not channels.url_of(channel):
        raise OperationRefused(
            f"the channel {channel.name} is of the environment of another process, which alone can test it"
        )
    message, identity = messages.trial(channel.name, settings.IRIS_SITE_URL), secrets.token_hex(6)
    record(ActKind.TEST_CHANNEL, actor=actor, target=_target(channel), after={"notice": identity})
    _announce()
    # Claimed at once: this process carries it itself, and another one if this dies.
    return NoticeDelivery.objects.create(
        channel=channel,
        message=identity,
        kind=MessageKind.TEST,
        title=message.title,
        body=messages.signed(message.body, identity),
        attempts=1,
        next_attempt_at=now + ATTEMPT_LOST,
        created_at=now,
    )


@transaction.atomic
def acknowledge_notice(
    actor: Actor, notice_id: int, note: str, until: datetime | None = None, version: int | None = None
) -> Notice:
    """Someone knows: nothing more is told of it until it is over, or until `until`.

    Over somebody else's, while it holds, only with the version that shows it was seen: raises StaleVersion without.
    """
    notice = find(Notice, "pk", notice_id)
    check_version(notice, version)
    check_unseen(notice, actor, version)
    given = read_act(note=note, until=until)
    if notice.over_at is not None:
        raise OperationRefused(f"it is over since {when(notice.over_at)}")
    values = {
        "acknowledged_at": clock.now(),
        "acknowledged_by": actor.name,
        "acknowledged_note": given["note"],
        "acknowledged_until": given["until"],
    }
    before, after = change(notice, values, f"notice {notice_id}")
    target = f"notice {notice_id}: {notice.title}"
    record(ActKind.ACKNOWLEDGE, actor=actor, target=target, reason=given["note"], before=before, after=after)
    _announce()
    return notice


def _check_service(url: str) -> None:
    if not service_of(url):
        raise OperationRefused("no service of the notification library has an address of this form", "url")


def _check_name(name: str) -> None:
    if NoticeChannel.objects.filter(name=name).exists():
        raise OperationRefused(f'there is a notice channel named "{name}" already', "name")


def _target(channel: NoticeChannel) -> str:
    return f"notice channel {channel.name}"


def _announce() -> None:
    feed.publish(TOPIC, "channels")
