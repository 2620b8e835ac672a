"""The channels and their secrets: those of the database, and those that a process finds in its environment."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from scaling.models import NoticeChannel
from scaling.notices import addresses

# A channel of the environment that no process has had for so long is none any more.
GONE = timedelta(hours=1)
_SEEN_AGAIN = timedelta(minutes=5)


def digest_of(url: str) -> str:
    """Tells two addresses of the environment apart without telling anything of them."""
    return salted_hmac("scaling.notices", url, algorithm="sha256").hexdigest()


def from_environment() -> dict[str, str]:
    """Digest → address of what this process was given."""
    return {digest_of(url): url for url in settings.IRIS_NOTICE_URLS}


def note_environment(now: datetime) -> None:
    """Keep a row for each channel of this process's environment, and drop those that no process has any more."""
    given = from_environment()
    rows = {row.digest: row for row in NoticeChannel.objects.filter(from_environment=True)}
    for digest, url in given.items():
        row = rows.get(digest)
        if row is None:
            masked = addresses.masked(url)
            name = f"{masked.partition('://')[0]} of the environment {digest[:6]}"
            NoticeChannel.objects.bulk_create(
                [NoticeChannel(name=name, masked=masked, from_environment=True, digest=digest, seen_at=now)],
                ignore_conflicts=True,
            )
        elif row.seen_at is None or abs(now - row.seen_at) > _SEEN_AGAIN:
            NoticeChannel.objects.filter(pk=row.pk).update(seen_at=now)
    gone = [row.pk for row in rows.values() if row.digest not in given and _is_gone(row, now)]
    if gone:
        NoticeChannel.objects.filter(pk__in=gone).delete()


def _is_gone(row: NoticeChannel, now: datetime) -> bool:
    return row.seen_at is None or row.seen_at < now - GONE


def in_use() -> QuerySet[NoticeChannel]:
    return NoticeChannel.objects.filter(enabled=True)


def within_reach() -> Q:
    """Channels whose address this process knows."""
    return Q(from_environment=False) | Q(digest__in=list(from_environment()))


def url_of(channel: NoticeChannel) -> str:
    """The secret address; "" where it is of another process's environment."""
    return from_environment().get(channel.digest, "") if channel.from_environment else channel.url
