"""How old a time is; the one place that knows about clocks that disagree and about binary noise."""

_DECIMALS = 6


def age_seconds(at: float, now: float) -> float:
    """Seconds since `at`; a time in the future reads as now, so the age is never negative.

    Rounded to a microsecond, the resolution of stored times, so that 60 s is 60 s on any axis.
    """
    return max(0.0, round(now - at, _DECIMALS))


def is_over(until: float, now: float) -> bool:
    """Whether `until` has come; at exactly that time it has."""
    return round(until - now, _DECIMALS) <= 0
