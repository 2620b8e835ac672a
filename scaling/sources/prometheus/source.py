"""The Prometheus source of the replica scaler."""

import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.sources.prometheus.answers import MetricsAnswer, MetricsHistory, Point
from scaling.sources.prometheus.buckets import buckets_query, last_finite
from scaling.sources.prometheus.client import PrometheusClient
from scaling.sources.prometheus.errors import PrometheusError
from scaling.sources.prometheus.grouped import GroupedAnswer, ask_grouped
from scaling.sources.prometheus.history import Steps, read_points, steps_between
from scaling.sources.prometheus.payload import Payload
from scaling.sources.prometheus.queries import GroupedQuery, p95_query, rps_query
from scaling.sources.prometheus.settings import PrometheusSettings

LAG_SECONDS = 30.0
MOST_SENTENCES = 8

T = TypeVar("T")


class PrometheusSource:
    """Reads p95 and request rate of all deployments at once, from one server.

    Down or query error? Down is what nobody answers: every query of a read found no connection (refused, unknown host,
    no route, TLS not agreed, no connection within the time). Once a connection stood, Prometheus is there and the query
    failed: any HTTP status, a time-out, an answer that breaks off or cannot be read. A proxy's 502 or 503 in front of a
    dead Prometheus is a query error too. Both hold the deployment; only the gate differs.

    One pool of connections, made for several threads; make the source in the process that uses it, and close it.
    """

    def __init__(self, settings: PrometheusSettings) -> None:
        self.settings = settings
        self._client = PrometheusClient(settings)
        self._queries = (p95_query(settings), rps_query(settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def read(self, deployment_ids: Collection[str], now: float, deadline_seconds: float) -> MetricsAnswer:
        """One reading for each id, within `deadline_seconds`; two queries at once when all goes well.

        `now` (Unix seconds) is only compared with the samples' own times, to say so when clocks disagree. Never raises
        for what Prometheus does. Without ids nothing is asked.
        """
        began = time.monotonic()
        ids = tuple(dict.fromkeys(deployment_ids))
        if not ids:
            return MetricsAnswer({}, down=False, error="", warnings=(), queries=0, seconds=0.0)

        def ask(query: GroupedQuery) -> GroupedAnswer:
            return ask_grouped(lambda text: self._client.instant(text, left(began, deadline_seconds)), query, ids)

        p95, rps = at_once(ask, self._queries)
        down = not p95.reached and not rps.reached and bool(p95.unreachable or rps.unreachable)
        readings = {each: MetricsReading(p95.samples[each], rps.samples[each], down) for each in ids}
        return MetricsAnswer(
            readings=readings,
            down=down,
            error=" ".join(_said((p95.errors, rps.errors))),
            warnings=(*_said((p95.notes, rps.notes)), *_clock_note(readings.values(), now)),
            queries=p95.queries + rps.queries,
            seconds=time.monotonic() - began,
        )

    def history(
        self, deployment_id: str, start: float, end: float, step_seconds: float, deadline_seconds: float
    ) -> MetricsHistory:
        """One deployment from `start` to `end` (Unix seconds), the same two queries over a range.

        Never raises: a bad range is said in `error`, with no points.
        """
        began = time.monotonic()
        try:
            steps = steps_between(start, end, step_seconds)
        except ValueError as error:
            return MetricsHistory((), (), str(error), ())

        def ask(query: GroupedQuery) -> tuple[tuple[Point, ...], list[str], list[str]]:
            return self._points(query, deployment_id, steps, left(began, deadline_seconds))

        p95, rps = at_once(ask, self._queries)
        return MetricsHistory(p95[0], rps[0], " ".join(_said((p95[1], rps[1]))), tuple(_said((p95[2], rps[2]))))

    def last_bucket_ms(self, deadline_seconds: float) -> float | None:
        """The histogram's last finite bucket, in its unit; None where Prometheus does not tell."""
        try:
            return last_finite(self._client.instant(buckets_query(self.settings), deadline_seconds).series)
        except PrometheusError:
            return None

    def _points(
        self, query: GroupedQuery, deployment_id: str, steps: Steps, seconds: float
    ) -> tuple[tuple[Point, ...], list[str], list[str]]:
        """Points, errors and notes of one metric."""
        text = query.text_for((deployment_id,))
        try:
            payload: Payload = self._client.ranged(text, steps.start, steps.end, steps.seconds, seconds)
            return read_points(payload, steps, query.most), [], [*payload.warnings, *payload.infos]
        except PrometheusError as error:
            return (), [str(error)], []


def left(began: float, seconds: float) -> float:
    """What is left of `seconds` since `began` on the monotonic clock."""
    return began + seconds - time.monotonic()


def at_once(ask: Callable[[GroupedQuery], T], queries: tuple[GroupedQuery, GroupedQuery]) -> tuple[T, T]:
    """Both queries at the same time; each bounds itself."""
    with ThreadPoolExecutor(len(queries), thread_name_prefix="prometheus-read") as pool:
        first, second = pool.map(ask, queries)
    return first, second


def _said(texts: tuple[list[str], list[str]]) -> list[str]:
    """What p95 and rps have to say, each sentence once, with the metric where only one says it."""
    p95, rps = (tuple(dict.fromkeys(each)) for each in texts)
    both = [text for text in p95 if text in rps]
    said = [
        *both,
        *(f"p95: {text}" for text in p95 if text not in both),
        *(f"rps: {text}" for text in rps if text not in both),
    ]
    hidden = len(said) - MOST_SENTENCES
    return [*said[:MOST_SENTENCES], f"And {hidden} more like these."] if hidden > 0 else said


def _clock_note(readings: Iterable[MetricsReading], now: float) -> list[str]:
    """The evaluation time of Prometheus is one for all, so the first sample with a time tells.

    The age is told in whole minutes: one that rises with every second would be news in every round.
    """
    samples: Iterable[MetricSample] = (each for reading in readings for each in (reading.p95, reading.rps))
    at = next((sample.at for sample in samples if sample.at is not None), None)
    if at is None or now - at <= LAG_SECONDS:
        return []
    minutes = int((now - at) // 60)
    age = f"{minutes} min" if minutes else f"{LAG_SECONDS:.0f} s"
    return [f"The samples are more than {age} old when they come: compare the clock of Prometheus with this one."]
