"""Cumulative counters of a Prometheus histogram: what requests add to them, and what their increases say."""

import math
from collections.abc import Sequence

from scaling.testing.fleet.latency import BUCKETS_MS

Counters = tuple[int, ...]
"""For each bound, infinity last, the requests so far that took no longer; the last one is the count of all."""

EMPTY: Counters = (0,) * (len(BUCKETS_MS) + 1)


def observed(requests: int, shares: Sequence[float], chance: float) -> Counters:
    """What this many requests add when their latencies fall by `shares`.

    A systematic sample: whole numbers, never fewer in a wider bucket, and right on the average over `chance`, which is
    drawn from [0, 1).
    """
    return (*(int(requests * share + chance) for share in shares[:-1]), requests) if requests else EMPTY


def added(left: Counters, right: Counters) -> Counters:
    return tuple([a + b for a, b in zip(left, right, strict=True)])


def quantile(share: float, increases: Sequence[float]) -> float:
    """`histogram_quantile` as Prometheus computes it: linear within a bucket, NaN of nothing.

    In the infinite bucket the answer is the last finite bound.
    """
    total = increases[-1]
    if total <= 0:
        return math.nan
    rank, below, lower = share * total, 0.0, 0.0
    for bound, count in zip(BUCKETS_MS, increases, strict=False):
        if count >= rank:
            return lower + (bound - lower) * (rank - below) / (count - below) if count > below else bound
        below, lower = count, bound
    return BUCKETS_MS[-1]
