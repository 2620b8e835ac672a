"""What `/metrics` tells, read from the stored facts alone: any web process tells the same of the same moment.

A process keeps its text for a moment (`iris_web.metrics`), so that two that are asked at once may differ by as much.
"""

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max
from django_q.brokers import get_broker

from iris_web import deployment_metrics
from iris_web.exposition import Family, counter, gauge, labelled, one
from scaling.audit.matching import DATED_WITHIN
from scaling.models import Action, Cycle, Group, GroupStatus, Loop, Platform, Slice
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


def families(now: datetime) -> Iterator[Family]:
    """All metrics as of `now`."""
    yield from _groups()
    yield from _cycles(now)
    yield from _totals(now)
    yield from _loops()
    yield from _platforms()
    yield from _queue()
    yield from deployment_metrics.families(now)
    yield counter("iris_actions_total", "Acts in the history.", _by("kind", _ACTIONS.counts(now)))


def _by(label: str, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """A sample for each value of a label."""
    return [(labelled(**{label: name}), value) for name, value in values.items()]


def _groups() -> Iterator[Family]:
    statuses = GroupStatus.objects.order_by("group__name")
    columns = ("group_id", "group__name", "outcome", "backoff_skipped_total", *_GROUP_GAUGES)
    rows = [(labelled(group=name), pk, name, *rest) for pk, name, *rest in statuses.values_list(*columns)]
    for place, (metric, text) in enumerate(_GROUP_GAUGES.values(), start=5):
        yield gauge(f"iris_group_{metric}", text, [(row[0], row[place]) for row in rows])
    outcomes = [(labelled(group=row[2], outcome=row[3]), 1) for row in rows]
    yield gauge("iris_group_outcome", "1 for the outcome of the last cycle.", outcomes)
    skipped = [(row[0], row[4]) for row in rows]
    yield counter("iris_group_backoff_skipped_total", "Cycles in which a back-off held back demand.", skipped)
    live = Slice.objects.filter(state__in=Slice.LIVE, group__isnull=False).order_by()
    counts = live.values_list("group", "state").annotate(number=Count("*"))
    names = dict(Group.objects.order_by().values_list("pk", "name"))
    by_state = sorted((names[pk], state, number) for pk, state, number in counts if pk in names)
    samples = [(labelled(group=name, state=state), number) for name, state, number in by_state]
    yield gauge("iris_group_slices", "Slices that are not gone.", samples)


def _cycles(now: datetime) -> Iterator[Family]:
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
        yield gauge(name, text, one(value))
    yield counter("iris_cycles_total", "Cycles since the installation began.", one(cycle.pk))


def _totals(now: datetime) -> Iterator[Family]:
    facts = overview(now)
    yield gauge(
        "iris_jobs",
        "Jobs by state; pending: no task has a worker yet, running: at least one has.",
        _by("state", facts["jobs"]),
    )
    yield gauge("iris_job_hints", "Jobs that wait, by the code of their hint.", _by("code", facts["hints"]))
    yield gauge(
        "iris_markers_open",
        "Open failure memories, also those whose time is over and that wait for a probe.",
        _by("kind", facts["markers"]["open"]),
    )
    for name, text, value in (
        ("iris_pending_tasks", "Tasks that wait for a worker.", facts["pending_tasks"]),
        ("iris_oldest_wait_seconds", "Wait of the oldest job with pending tasks.", facts["oldest_wait_seconds"] or 0),
        (
            "iris_markers_unacknowledged",
            "Failure memories in force that wait for somebody.",
            facts["markers"]["unacknowledged"],
        ),
        ("iris_halted", "1 while buying and releasing of slices is stopped.", facts["halted"] is not None),
        ("iris_groups_draining", "Groups that drain.", facts["groups"]["draining"]),
        ("iris_groups_paused", "Groups that are paused.", facts["groups"]["paused"]),
    ):
        yield gauge(name, text, one(value))


def _loops() -> Iterator[Family]:
    rows = [(labelled(loop=row.name), row) for row in Loop.objects.all()]
    late = [(loop, row.last_lateness_ms / 1000) for loop, row in rows]
    yield gauge("iris_loop_lateness_seconds", "How late the last round began.", late)
    ends = [(loop, row.last_finished_at) for loop, row in rows]
    yield gauge("iris_loop_last_finished_timestamp_seconds", "When its last round ended.", ends)
    failing = [(loop, bool(row.last_error)) for loop, row in rows]
    yield gauge("iris_loop_failing", "1 if its last round failed.", failing)
    yield counter("iris_loop_rounds_total", "Rounds begun.", [(loop, row.round) for loop, row in rows])
    skipped = [(loop, row.skipped) for loop, row in rows]
    yield counter("iris_loop_skipped_total", "Rounds skipped for a running one.", skipped)


def _platforms() -> Iterator[Family]:
    rows = [(labelled(platform=row.name), row) for row in Platform.objects.all()]
    failing = [(platform, row.aborts_in_a_row) for platform, row in rows]
    yield gauge("iris_platform_failed_listings", "Cycles in a row that could not list it.", failing)
    acting = [(platform, row.mode == Platform.Mode.ACT) for platform, row in rows]
    yield gauge("iris_platform_acting", "1 in mode act, 0 in observe.", acting)


def _queue() -> Iterator[Family]:
    """The queue may live in another service; without it the other metrics are told all the same."""
    try:
        depth = get_broker().queue_size()  # type: ignore[no-untyped-call]
    except Exception as error:
        logger.warning("queue depth unknown", extra={"error": str(error)})
        return
    yield gauge("iris_queue_depth", "Tasks that wait in the queue.", one(depth))


class ActionCounts:
    """Actions by kind, without counting millions of rows at each scrape.

    Rows are never changed or removed, so what has settled is remembered: all that can ever have an id up to one seen
    SETTLED ago is committed by now (ids may commit out of order, but no transaction lasts that long). When counting
    begins, that is all up to an action so old that no clock is that wrong.
    """

    SETTLED = timedelta(minutes=5)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._upto = 0
        self._settled: Counter[str] = Counter()
        self._seen: list[tuple[datetime, int]] | None = None

    def counts(self, now: datetime) -> dict[str, int]:
        with self._lock:
            self._settle(now)
            return dict(sorted((self._settled + self._between(self._upto, None)).items()))

    def _settle(self, now: datetime) -> None:
        seen = [(now - self.SETTLED, self._old(now))] if self._seen is None else self._seen
        old = max((last for at, last in seen if at <= now - self.SETTLED), default=0)
        if old > self._upto:
            self._settled += self._between(self._upto, old)
            self._upto = old
        self._seen = [(at, last) for at, last in seen if at > now - self.SETTLED]
        self._seen.append((now, Action.objects.aggregate(last=Max("pk"))["last"] or 0))

    def _old(self, now: datetime) -> int:
        """The id of an action that was written long ago, 0 where there is none."""
        rows = Action.objects.filter(at__lte=now - self.SETTLED - DATED_WITHIN)
        return rows.order_by("-at").values_list("pk", flat=True).first() or 0

    def _between(self, after: int, upto: int | None) -> Counter[str]:
        rows = Action.objects.filter(pk__gt=after)
        rows = rows if upto is None else rows.filter(pk__lte=upto)
        return Counter(dict(rows.order_by().values_list("kind").annotate(number=Count("pk"))))


_ACTIONS = ActionCounts()
