"""The metrics of a fleet over time, and what a query for a window of them gives: rates and quantiles."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator

from scaling.testing.fleet.fleet import Fleet
from scaling.testing.fleet.histogram import Counters, quantile


class History:
    """Each deployment's counters at each recorded time, for the last `keep_seconds`.

    A deployment without any replica has no sample: nobody is there to be scraped.
    """

    def __init__(self, keep_seconds: float = 7200.0) -> None:
        self._keep_seconds = keep_seconds
        self._times: deque[float] = deque()
        self._samples: deque[dict[str, Counters]] = deque()

    def record(self, fleet: Fleet) -> None:
        """Take a sample of every deployment at the fleet's time."""
        self._times.append(fleet.at)
        self._samples.append({it.spec.id: it.counters for it in fleet.deployments.values() if it.replicas})
        while self._times[0] < fleet.at - self._keep_seconds:
            self._times.popleft()
            self._samples.popleft()

    def rates(self, at: float, window_seconds: float) -> Iterator[tuple[str, tuple[float, ...]]]:
        """For each deployment the increase per second of every counter within (at − window, at].

        One with fewer than two samples there has none, as with Prometheus.
        """
        first, end = bisect_right(self._times, at - window_seconds), bisect_right(self._times, at)
        if end - first < 2:
            return
        newest, newest_at = self._samples[end - 1], self._times[end - 1]
        for name, counters in newest.items():
            start = next(place for place in range(first, end) if name in self._samples[place])
            seconds = newest_at - self._times[start]
            if seconds > 0:
                before = self._samples[start][name]
                yield name, tuple([(a - b) / seconds for a, b in zip(counters, before, strict=True)])

    def p95(self, at: float, window_seconds: float) -> Iterator[tuple[str, float]]:
        """`histogram_quantile(0.95, ...)` in milliseconds; NaN without requests."""
        return ((name, quantile(0.95, rates)) for name, rates in self.rates(at, window_seconds))

    def rps(self, at: float, window_seconds: float) -> Iterator[tuple[str, float]]:
        """Requests per second."""
        return ((name, rates[-1]) for name, rates in self.rates(at, window_seconds))

    def latest_at(self, at: float) -> float | None:
        """The time of the newest sample at `at` or before."""
        place = bisect_right(self._times, at)
        return self._times[place - 1] if place else None
