"""Whom the throttle of passwords keeps waiting, by the rows and the rule that it counts with itself."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import QuerySet

# As the library stores them: name, address (None: the client had none).
_Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Wrong:
    """Wrong passwords for a name from one address (of IPv6 a /64; "" for clients without). `until` None: not locked."""

    address: str
    count: int
    until: datetime | None


def wrong_passwords(now: datetime, names: Sequence[str] | QuerySet[Any, Any]) -> Mapping[str, list[Wrong]]:
    """By name, of these (or of a query's), what was typed wrong within the cooling time, the longest wait first.

    Whoever can reach the login makes up names, so nobody asks for those of all. One query.
    """
    recent = AccessAttempt.objects.filter(attempt_time__gt=now - _cooling(), username__in=names)
    found: dict[_Key, list[tuple[datetime, int]]] = defaultdict(list)
    rows = recent.order_by("-attempt_time").values_list(
        "username", "ip_address", "attempt_time", "failures_since_start"
    )
    for name, address, at, count in rows:
        found[name or "", address].append((at, count))
    by_name: dict[str, list[Wrong]] = defaultdict(list)
    for (name, address), attempts in found.items():
        by_name[name].append(Wrong(address or "", sum(count for _, count in attempts), _until(attempts)))
    return {name: sorted(wrong, key=_wait, reverse=True) for name, wrong in by_name.items()}


def locked_until(name: str, address: str | None, now: datetime) -> datetime | None:
    """When the next password for this name from this address counts again; None: at once."""
    return next(
        (one.until for one in wrong_passwords(now, [name]).get(name, ()) if one.address == (address or "")), None
    )


def _until(attempts: Iterable[tuple[datetime, int]]) -> datetime | None:
    """The newest first: it lasts until so many have cooled that those left are fewer than lock."""
    seen = 0
    for at, count in attempts:
        seen += count
        if seen >= settings.AXES_FAILURE_LIMIT:
            return at + _cooling()
    return None


def _wait(wrong: Wrong) -> tuple[float, int]:
    return (wrong.until.timestamp() if wrong.until else 0.0, wrong.count)


def _cooling() -> timedelta:
    cooling: timedelta = settings.AXES_COOLOFF_TIME
    return cooling
