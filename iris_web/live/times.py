"""Times as people read them; `static/js/times.js` words them the same way and keeps them ticking."""

from datetime import UTC, datetime, timedelta

from django.utils.safestring import SafeString

from scaling.autoscaler.quantities import duration_words


def duration_text(seconds: float) -> str:
    """The two largest units, in whole seconds begun: `8 s`, `4 min 10 s`, `3 d 4 h`. Less than nothing is `0 s`."""
    return duration_words(max(0, int(seconds)))


def age_element(at: datetime | None, now: datetime) -> SafeString:
    """How long ago `at` was; ticks in the page."""
    return _element("data-age", at, "" if at is None else duration_text((now - at) / timedelta(seconds=1)))


def countdown_element(at: datetime | None, now: datetime) -> SafeString:
    """How long until `at`; ticks in the page and stops at `0 s`."""
    return _element("data-countdown", at, "" if at is None else duration_text((at - now) / timedelta(seconds=1)))


def local_element(at: datetime | None) -> SafeString:
    """The moment itself: in the reader's zone with javascript, else in UTC and saying so."""
    return _element("data-local", at, "" if at is None else utc_text(at))


def utc_text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _element(kind: str, at: datetime | None, text: str) -> SafeString:
    if at is None:
        return SafeString("–")
    moment = at.astimezone(UTC).isoformat(timespec="seconds")
    # Words and numbers of our own, in lists by the hundred: there is nothing in them to escape.
    return SafeString(f'<time {kind} datetime="{moment}" title="{utc_text(at)}">{text}</time>')
