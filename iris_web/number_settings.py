"""The settings that are numbers: what each is unless told, and between which bounds it can be meant.

The upper bounds are generous and finite: what is beyond them is a slip of the unit or of a finger, and would only fail
later, as a date that no calendar has or as more processes than a machine can hold.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})(e[+-]?[0-9]{1,6})?", re.IGNORECASE)
_YEAR_HOURS = 366 * 24
_MONTH_MINUTES = 30 * 24 * 60
_CENTURY_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Bounds:
    """In the unit that the setting's name ends with; both bounds may be meant."""

    default: float
    least: float
    most: float
    is_whole: bool = False


def _days(default: float) -> Bounds:
    return Bounds(default, 0, _CENTURY_DAYS)


BOUNDS: Mapping[str, Bounds] = {
    "IRIS_SESSION_IDLE_HOURS": Bounds(12, 0, _YEAR_HOURS),
    "IRIS_SESSION_HOURS": Bounds(168, 0, _YEAR_HOURS),
    "IRIS_CONFIRM_MINUTES": Bounds(10, 1, 1_440),
    "IRIS_LOGIN_FAILURES": Bounds(5, 1, 1_000, is_whole=True),
    "IRIS_LOGIN_WAIT_MINUTES": Bounds(15, 0.1, 10_080),
    "IRIS_HSTS_SECONDS": Bounds(31_536_000, 0, 315_360_000, is_whole=True),
    "IRIS_WORKERS": Bounds(2, 1, 64, is_whole=True),
    "IRIS_CYCLE_SECONDS": Bounds(10, 0.5, 3_600),
    "IRIS_LEASE_TTL": Bounds(15, 1, 3_600),
    # A round that lists platforms must end before the queue's own time-out (20 s) ends it.
    "IRIS_PLATFORM_TIMEOUT": Bounds(10, 0.5, 15),
    "IRIS_CREATES_PER_MINUTE": Bounds(60, 1, 1_000_000, is_whole=True),
    "IRIS_NOTICE_DEMAND_MINUTES": Bounds(15, 0.1, _MONTH_MINUTES),
    "IRIS_NOTICE_AGAIN_MINUTES": Bounds(0, 0, _MONTH_MINUTES),
    "IRIS_NOTICE_SETTLE_SECONDS": Bounds(60, 0, 86_400),
    "IRIS_NOTICE_GROUP_OVER": Bounds(3, 1, 1_000, is_whole=True),
    "IRIS_NOTICE_ATTEMPTS": Bounds(10, 1, 100, is_whole=True),
    "IRIS_KEEP_CYCLES_DAYS": _days(14),
    "IRIS_KEEP_FEED_DAYS": _days(2),
    "IRIS_KEEP_JOBS_DAYS": _days(7),
    "IRIS_KEEP_SLICES_DAYS": _days(14),
    "IRIS_KEEP_MARKERS_DAYS": _days(90),
    "IRIS_KEEP_NOTICES_DAYS": _days(30),
    "IRIS_KEEP_TASK_RESULTS_DAYS": _days(2),
    "IRIS_KEEP_HEARTBEATS_DAYS": _days(1),
    "IRIS_KEEP_DECISIONS_DAYS": _days(14),
    "IRIS_KEEP_SAMPLES_DAYS": _days(1),
    "IRIS_KEEP_GROUP_SAMPLES_DAYS": _days(8),
    "IRIS_KEEP_SESSIONS_DAYS": _days(1),
}


def number(environ: Mapping[str, str], name: str, usual: float | None = None) -> float:
    """The setting of this name, else `usual` or its default; ValueError in one sentence that names it."""
    bounds, text = BOUNDS[name], environ.get(name, "").strip()
    if not text:
        return bounds.default if usual is None else usual
    value = float(text) if _NUMBER.fullmatch(text) else None
    if value is None or not bounds.least <= value <= bounds.most or (bounds.is_whole and value != int(value)):
        kind = "a whole number" if bounds.is_whole else "a number"
        raise ValueError(f"{name}: expected {kind} from {bounds.least:g} to {bounds.most:,.0f}, got {text[:60]!r}")
    return value
