"""How many requests come: as a trace says, or along a curve. Times are seconds since the load began."""

import csv
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Protocol

TRACE_FILE = "azure_llm_2023_code.csv"
_MASK = 2**64 - 1


class Load(Protocol):
    """The demand on one deployment."""

    def arrivals(self, start: float, end: float) -> int:
        """Requests that come in [start, end)."""


@dataclass(frozen=True, slots=True)
class TraceLoad:
    """Requests at the times of a trace, `speed` times as fast, each counted `scale` times; it begins again at its end.

    `times` are in order and begin at 0; `offset` seconds of the trace are left out at first.
    """

    times: Sequence[float]
    speed: float = 1.0
    scale: float = 1.0
    offset: float = 0.0

    def arrivals(self, start: float, end: float) -> int:
        return self._until(end) - self._until(start)

    def _until(self, at: float) -> int:
        """Rounded here, not per span: the parts of a span add up to the whole."""
        place = self.offset + at * self.speed
        rounds, rest = divmod(place, self.times[-1] + 1.0)
        return math.floor(self.scale * (rounds * len(self.times) + bisect_right(self.times, rest)))


@dataclass(frozen=True, slots=True)
class CurveLoad:
    """A day's sine around `mean` requests per second with bursts, drawn by `seed`.

    A day is `day_seconds` long and begins at `phase` of its course; at its highest the curve is `1 + swing` times the
    mean. About one in `burst_every` spans of `burst_seconds` is a burst of `burst` times as much.
    """

    mean: float
    seed: int = 0
    day_seconds: float = 86_400.0
    phase: float = 0.0
    swing: float = 0.7
    burst: float = 2.5
    burst_every: int = 15
    burst_seconds: float = 90.0

    def rate(self, at: float) -> float:
        """Requests per second at a moment."""
        wave = 1 + self.swing * math.sin(2 * math.pi * (at / self.day_seconds + self.phase))
        drawn = _hashed(self.seed, int(at // self.burst_seconds))
        return self.mean * wave * (self.burst if drawn * self.burst_every < 1 else 1)

    def arrivals(self, start: float, end: float) -> int:
        """Close to Poisson: the expected number with noise of its own size."""
        expected = self.rate((start + end) / 2) * (end - start)
        tick = int(start * 1000)
        # Three uniform numbers are near enough to a normal one; their sum has a deviation of a half.
        noise = 2 * (_hashed(self.seed, tick) + _hashed(self.seed, tick + 1) + _hashed(self.seed, tick + 2) - 1.5)
        return max(0, round(expected + noise * math.sqrt(expected)))


def _hashed(seed: int, place: int) -> float:
    """A number in [0, 1) for a place in a seed's sequence, in any order and without memory (SplitMix64's mixing)."""
    mixed = (seed * 0x9E3779B97F4A7C15 + place * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return (mixed ^ (mixed >> 31)) / 2**64


@lru_cache(maxsize=4)
def read_trace(path: Path) -> tuple[float, ...]:
    """The arrivals of a trace with a TIMESTAMP column, in seconds since its first one.

    Raises OSError when it cannot be read and ValueError, one sentence, when it is no such trace.
    """
    with path.open(newline="") as lines:
        rows = csv.DictReader(lines)
        if "TIMESTAMP" not in (rows.fieldnames or ()):
            raise ValueError(f"{path}: expected a table with a column TIMESTAMP")
        moments = [_moment(row["TIMESTAMP"], path, number) for number, row in enumerate(rows, start=2)]
    if not moments:
        raise ValueError(f"{path}: expected at least one request")
    if any(later < earlier for earlier, later in pairwise(moments)):
        moments.sort()
    return tuple(moment - moments[0] for moment in moments)


def _moment(text: str, path: Path, line: int) -> float:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except (ValueError, TypeError):
        raise ValueError(f"{path}, line {line}: expected a time in TIMESTAMP, got {text!r}") from None
