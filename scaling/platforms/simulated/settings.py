"""How a simulated cloud behaves of itself; rules (`script`) come on top."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from scaling.platforms.base import PlatformError

_INTEGERS = frozenset({"seed"})


@dataclass(frozen=True, slots=True)
class CloudSettings:
    """The everyday behaviour of one cloud. Without a `seed` nothing happens by chance.

    With one, every draw is a function of the seed, the slice's or call's name and the time, so that the same calls at
    the same times meet the same troubles again.
    """

    seed: int | None = None
    boot_seconds: float = 30.0
    # Each worker boots up to this much longer; a slice is READY with its last worker.
    boot_spread_seconds: float = 15.0
    delete_seconds: float = 5.0
    # From a call's effect to its answer.
    answer_seconds: float = 0.0
    # Chances per call: no answer and no effect, or an answer that takes `slow_seconds`.
    outage_chance: float = 0.0
    slow_chance: float = 0.0
    slow_seconds: float = 3.0
    # In each period each zone is out of stock once with this chance, at a random moment, for `stockout_seconds`.
    stockout_chance: float = 0.0
    stockout_period_seconds: float = 900.0
    stockout_seconds: float = 240.0
    # Chance that an accepted slice fails instead of becoming READY.
    boot_failure_chance: float = 0.0
    # Expected events per slice and hour: a preemptible slice loses a worker; a worker is silent for a while.
    preemptions_per_hour: float = 0.0
    silences_per_hour: float = 0.0
    silence_seconds: float = 20.0

    @classmethod
    def from_options(cls, options: object, place: str) -> "CloudSettings":
        """Settings from a platform's options; raises PlatformError naming the place and what was expected."""
        if not isinstance(options, Mapping):
            raise PlatformError(f"{place}: expected a mapping of settings, got {options!r}.")
        known = {field.name for field in fields(cls)}
        for name, value in options.items():
            if name not in known:
                raise PlatformError(f"{place}: unknown setting {name!r}; known are {', '.join(sorted(known))}.")
            if not _fits(name, value):
                kind = "a whole number" if name in _INTEGERS else "a number, 0 or more"
                raise PlatformError(f"{place}.{name}: expected {kind}, got {value!r}.")
        return cls(**options)


def _fits(name: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return name in _INTEGERS and value is None
    if name in _INTEGERS:
        return isinstance(value, int)
    return math.isfinite(value) and value >= 0
