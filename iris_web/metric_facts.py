"""What `/metrics` tells, read from the stored facts at each scrape: any web process gives the same answer."""

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max
from django_q.brokers import get_broker
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from iris_web import deployment_metrics
from scaling.models import Action, Cycle, GroupStatus, Loop, Platform, Slice
from scaling.overview import overview

logger = logging.getLogger(__name__)

# GroupStatus column → (metric, help). Numbers as they are, times as Unix seconds, null left out.
_GROUP_GAUGES: Mapping[str, tuple[str, str]] = {
    "capacity_remaining": ("capacity_remaining", "Slices left under max_slices."),
    "quota_remaining": ("quota_remaining", "Devices left in the quota pool."),
    "backoff_expires_at": ("backoff_expires_at_timestamp_seconds", "When the back-off ends."),
    "stockout_until": ("stockout_until_timestamp_seconds", "When the stock-out marker ends."),
    "assigned": ("assigned_tasks", "Tasks that the last cycle assigned."),
    "deficit": ("deficit_slices", "Slices that demand lacks."),
    "target": ("target_slices", "Slices aimed at."),
    "used": ("used_slices", "Slices with work or planned for it."),
}


class Facts(Collector):
    """All metrics as of `now`."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        yield from _groups()
        yield from _cycles(self._now)
        yield from _totals(self._now)
        yield from _loops()
        yield from _platforms()
        yield from _queue()
        yield from deployment_metrics.collect(self._now)
        yield _counter("iris_actions", "Acts in the history.", ["kind"], _ACTIONS.counts(self._now).items())


def _gauge(name: str, text: str, labels: list[str], samples: Iterable[tuple[Any, Any]]) -> Metric:
    return _filled(GaugeMetricFamily(name, text, labels=labels), samples)


def _counter(name: str, text: str, labels: list[str], samples: Iterable[tuple[Any, Any]]) -> Metric:
    return _filled(CounterMetricFamily(name, text, labels=labels), samples)


def _filled(family: Any, samples: Iterable[tuple[Any, Any]]) -> Metric:
    """The family with a sample for each (label or labels, value); values of None are left out."""
    for labels, value in samples:
        if value is not None:
            family.add_metric([labels] if isinstance(labels, str) else list(labels), _number(value))
    return family  # type: ignore[no-any-return]


def _number(value: Any) -> float:
    return value.timestamp() if isinstance(value, datetime) else float(value)


def _groups() -> Iterator[Metric]:
    statuses = GroupStatus.objects.order_by("group__name").annotate(name=F("group__name"))
    rows: list[dict[str, Any]] = [dict(row) for row in statuses.values()]
    for column, (metric, text) in _GROUP_GAUGES.items():
        yield _gauge(f"iris_group_{metric}", text, ["group"], [(row["name"], row[column]) for row in rows])
    outcomes = [((row["name"], row["outcome"]), 1) for row in rows]
    yield _gauge("iris_group_outcome", "1 for the outcome of the last cycle.", ["group", "outcome"], outcomes)
    skipped = [(row["name"], row["backoff_skipped_total"]) for row in rows]
    yield _counter("iris_group_backoff_skipped", "Cycles in which a back-off held back demand.", ["group"], skipped)
    live = Slice.objects.filter(state__in=Slice.LIVE, group__isnull=False).order_by()
    counts = live.values_list("group__name", "state").annotate(number=Count("pk")).order_by("group__name", "state")
    by_state = [((group, state), number) for group, state, number in counts]
    yield _gauge("iris_group_slices", "Slices that are not gone.", ["group", "state"], by_state)


def _cycles(now: datetime) -> Iterator[Metric]:
    cycle = Cycle.objects.order_by("-id").first()
    if cycle is None:
        return
    for name, text, value in (
        ("iris_cycle_last_duration_seconds", "How long the last cycle took.", cycle.duration_ms / 1000),
        ("iris_cycle_last_plan_seconds", "How long its plan alone took.", cycle.plan_ms / 1000),
        ("iris_cycle_last_timestamp_seconds", "When it began.", cycle.started_at),
        ("iris_cycle_last_age_seconds", "How long ago that was.", (now - cycle.started_at).total_seconds()),
        ("iris_cycle_last_success", "1 if it was carried out, 0 if it was aborted.", cycle.status == Cycle.Status.OK),
    ):
        yield GaugeMetricFamily(name, text, value=_number(value))
    yield CounterMetricFamily("iris_cycles", "Cycles since the installation began.", value=cycle.pk)


def _totals(now: datetime) -> Iterator[Metric]:
    facts = overview(now)
    yield _gauge("iris_jobs", "Jobs by state.", ["state"], facts["jobs"].items())
    yield _gauge("iris_job_hints", "Jobs that wait, by the code of their hint.", ["code"], facts["hints"].items())
    yield _gauge("iris_markers_open", "Open failure memories.", ["kind"], facts["markers"]["open"].items())
    for name, text, value in (
        ("iris_pending_tasks", "Tasks that wait for a worker.", facts["pending_tasks"]),
        ("iris_oldest_wait_seconds", "Wait of the oldest job with pending tasks.", facts["oldest_wait_seconds"] or 0),
        ("iris_markers_unacknowledged", "Open failure memories nobody knows.", facts["markers"]["unacknowledged"]),
        ("iris_halted", "1 while all buying and releasing is stopped.", facts["halted"] is not None),
        ("iris_groups_draining", "Groups that drain.", facts["groups"]["draining"]),
        ("iris_groups_paused", "Groups that are paused.", facts["groups"]["paused"]),
    ):
        yield GaugeMetricFamily(name, text, value=float(value))


def _loops() -> Iterator[Metric]:
    rows = list(Loop.objects.all())
    late = [(row.name, row.last_lateness_ms / 1000) for row in rows]
    yield _gauge("iris_loop_lateness_seconds", "How late the last round began.", ["loop"], late)
    ends = [(row.name, row.last_finished_at) for row in rows]
    yield _gauge("iris_loop_last_finished_timestamp_seconds", "When its last round ended.", ["loop"], ends)
    failing = [(row.name, bool(row.last_error)) for row in rows]
    yield _gauge("iris_loop_failing", "1 if its last round failed.", ["loop"], failing)
    yield _counter("iris_loop_rounds", "Rounds begun.", ["loop"], [(row.name, row.round) for row in rows])
    yield _counter(
        "iris_loop_skipped", "Rounds skipped for a running one.", ["loop"], [(r.name, r.skipped) for r in rows]
    )


def _platforms() -> Iterator[Metric]:
    rows = list(Platform.objects.all())
    failing = [(row.name, row.aborts_in_a_row) for row in rows]
    yield _gauge("iris_platform_failed_listings", "Cycles in a row that could not list it.", ["platform"], failing)
    acting = [(row.name, row.mode == Platform.Mode.ACT) for row in rows]
    yield _gauge("iris_platform_acting", "1 in mode act, 0 in observe.", ["platform"], acting)


def _queue() -> Iterator[Metric]:
    """The queue may live in another service; without it the other metrics are told all the same."""
    try:
        depth = get_broker().queue_size()  # type: ignore[no-untyped-call]
    except Exception as error:
        logger.warning("queue depth unknown", extra={"error": str(error)})
        return
    yield GaugeMetricFamily("iris_queue_depth", "Tasks that wait in the queue.", value=depth)


class ActionCounts:
    """Actions by kind, without counting millions of rows at each scrape.

    Rows are never changed or removed, so what has settled is remembered: all that can ever have an id up to one seen
    SETTLED ago is committed by now (ids may commit out of order, but no transaction lasts that long).
    """

    SETTLED = timedelta(minutes=5)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._upto = 0
        self._settled: Counter[str] = Counter()
        self._seen: list[tuple[datetime, int]] = []

    def counts(self, now: datetime) -> dict[str, int]:
        with self._lock:
            self._settle(now)
            return dict(sorted((self._settled + self._between(self._upto, None)).items()))

    def _settle(self, now: datetime) -> None:
        old = [last for at, last in self._seen if at <= now - self.SETTLED]
        if old:
            self._settled += self._between(self._upto, max(old))
            self._upto = max(old)
        self._seen = [(at, last) for at, last in self._seen if at > now - self.SETTLED]
        self._seen.append((now, Action.objects.aggregate(last=Max("pk"))["last"] or 0))

    def _between(self, after: int, upto: int | None) -> Counter[str]:
        rows = Action.objects.filter(pk__gt=after)
        rows = rows if upto is None else rows.filter(pk__lte=upto)
        return Counter(dict(rows.order_by().values_list("kind").annotate(number=Count("pk"))))


_ACTIONS = ActionCounts()
