"""Token buckets, in slices (AUTOSCALER section 4, limits): they start full and hold one minute's rate."""

from collections.abc import Sequence

from scaling.autoscaler.models import Bucket

SECONDS_PER_MINUTE = 60.0
# Refilling by fractions must not leave a whole token a hair short.
_SLACK = 1e-9


class Tokens:
    """A bucket during one cycle. `capacity` tokens at most, `rate` (= capacity) of them per minute."""

    __slots__ = ("capacity", "level")

    def __init__(self, capacity: float, level: float) -> None:
        self.capacity = capacity
        self.level = level

    def allows(self, slices: int) -> bool:
        """Whether that many may be taken together; more than the bucket holds may once it is full."""
        return self.capacity > 0 and self.level + _SLACK >= min(slices, self.capacity)

    def take(self, slices: int) -> None:
        self.level -= slices


def refilled(bucket: Bucket | None, rate: float, now: float, recent: Sequence[float] = ()) -> Tokens:
    """The bucket at `now`; without a stored one it is full less what was created in the last minute (`recent`)."""
    if bucket is None:
        latest = sum(1 for at in recent if now - SECONDS_PER_MINUTE < at <= now)
        return Tokens(rate, rate - latest)
    gained = max(now - bucket.at, 0.0) * rate / SECONDS_PER_MINUTE
    return Tokens(rate, min(bucket.tokens + gained, rate))


def stored(tokens: Tokens, now: float) -> Bucket:
    return Bucket(tokens.level, now)
