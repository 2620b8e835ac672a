"""How old a time is; the one place that knows about clocks that disagree and about binary noise.

Ages are compared to a microsecond, the resolution of stored times, so that 60 s is 60 s on any axis. A time in
the future reads as now: its age is 0.
"""

_DECIMALS = 6
_HALF_A_STEP = 0.5e-6


def age_seconds(at: float, now: float) -> float:
    """Seconds since `at`, never negative."""
    age = now - at
    return round(age, _DECIMALS) if age > 0 else 0.0


def is_over(until: float, now: float) -> bool:
    """Whether `until` has come; at exactly that time it has."""
    return round(until - now, _DECIMALS) <= 0


def younger_after(seconds: float, now: float) -> float:
    """The time after which (`at > it`) everything is younger than `seconds`; for comparing many times at once."""
    return now - seconds + _HALF_A_STEP


def not_older_from(seconds: float, now: float) -> float:
    """The time from which on (`at >= it`) everything is at most `seconds` old."""
    return now - seconds - _HALF_A_STEP
