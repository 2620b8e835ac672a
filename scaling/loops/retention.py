"""The retention loop: old rows leave, each kind after its own number of days. Actions never leave this way."""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django_q.models import Task as QueueResult

from scaling import feed
from scaling.models import (
    Cycle,
    Deployment,
    DeploymentSample,
    GroupSample,
    Heartbeat,
    Instance,
    Job,
    Marker,
    Notice,
    NoticeDelivery,
    Platform,
    ReplicaDecision,
    Slice,
    SourceState,
)
from scaling.platforms.base import PlatformError
from scaling.platforms.registry import cloud_books, simulated_by

logger = logging.getLogger(__name__)

BATCH_ROWS = 500
# A round ends well before the queue's time-out; what is left goes in the next one.
BUDGET_SECONDS = 10.0
# For how long simulated clouds remember calls and slices that are gone.
BOOKS_KEPT = timedelta(days=2)

Rows = Callable[[datetime], QuerySet[Any]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`rows(before)` are the ones that may leave; `setting` names for how many days they stay, 0 = for ever.

    `order` is the column they are taken by: one whose index holds few rows but those that leave.
    """

    what: str
    setting: str
    rows: Rows
    order: str = "pk"


def _cycles(before: datetime) -> QuerySet[Any]:
    newest = list(Cycle.objects.order_by("-id").values_list("pk", flat=True)[:1])
    return Cycle.objects.filter(started_at__lt=before).exclude(pk__in=newest)


def _finished_jobs(before: datetime) -> QuerySet[Any]:
    return Job.objects.filter(state__in=(Job.State.DONE, Job.State.CANCELLED), finished_at__lt=before)


def _ended_slices(before: datetime) -> QuerySet[Any]:
    return Slice.objects.filter(state__in=(Slice.State.GONE, Slice.State.FAILED), ended_at__lt=before)


def _closed_markers(before: datetime) -> QuerySet[Any]:
    return Marker.objects.filter(closed_at__lt=before)


def _ended_notices(before: datetime) -> QuerySet[Any]:
    return Notice.objects.filter(over_at__lt=before)


def _ended_deliveries(before: datetime) -> QuerySet[Any]:
    return NoticeDelivery.objects.filter(created_at__lt=before)


def _queue_results(before: datetime) -> QuerySet[Any]:
    return QueueResult.objects.filter(stopped__lt=before)


def _silent_heartbeats(before: datetime) -> QuerySet[Any]:
    return Heartbeat.objects.filter(at__lt=before)


def _old_decisions(before: datetime) -> QuerySet[Any]:
    return ReplicaDecision.objects.filter(at__lt=before)


def _old_samples(before: datetime) -> QuerySet[Any]:
    return DeploymentSample.objects.filter(at__lt=before)


def _old_group_samples(before: datetime) -> QuerySet[Any]:
    """But the last of each group before then: it stands until the next one, however long that is."""
    newer = GroupSample.objects.filter(group=OuterRef("group"), at__gt=OuterRef("at"), at__lt=before)
    return GroupSample.objects.filter(Exists(newer), at__lt=before)


def _gone_deployments(before: datetime) -> QuerySet[Any]:
    return Deployment.objects.filter(gone_at__lt=before)


def _silent_sources(before: datetime) -> QuerySet[Any]:
    return SourceState.objects.filter(asked_at__lt=before)


def _silent_instances(before: datetime) -> QuerySet[Any]:
    return Instance.objects.filter(seen_at__lt=before)


def _expired_sessions(before: datetime) -> QuerySet[Any]:
    return Session.objects.filter(expire_date__lt=before)


RULES = (
    Rule("cycles", "IRIS_KEEP_CYCLES_DAYS", _cycles, order="started_at"),
    Rule("finished jobs", "IRIS_KEEP_JOBS_DAYS", _finished_jobs),
    Rule("ended slices", "IRIS_KEEP_SLICES_DAYS", _ended_slices, order="ended_at"),
    Rule("closed markers", "IRIS_KEEP_MARKERS_DAYS", _closed_markers, order="closed_at"),
    Rule("notices", "IRIS_KEEP_NOTICES_DAYS", _ended_notices, order="over_at"),
    Rule("notice deliveries", "IRIS_KEEP_NOTICES_DAYS", _ended_deliveries, order="created_at"),
    Rule("task results", "IRIS_KEEP_TASK_RESULTS_DAYS", _queue_results),
    Rule("heartbeats", "IRIS_KEEP_HEARTBEATS_DAYS", _silent_heartbeats),
    Rule("decisions", "IRIS_KEEP_DECISIONS_DAYS", _old_decisions, order="at"),
    Rule("chart samples", "IRIS_KEEP_SAMPLES_DAYS", _old_samples, order="at"),
    Rule("samples of groups", "IRIS_KEEP_GROUP_SAMPLES_DAYS", _old_group_samples, order="at"),
    Rule("gone deployments", "IRIS_KEEP_DECISIONS_DAYS", _gone_deployments),
    Rule("sources of silent instances", "IRIS_KEEP_HEARTBEATS_DAYS", _silent_sources),
    Rule("silent instances", "IRIS_KEEP_HEARTBEATS_DAYS", _silent_instances),
    Rule("expired sessions", "IRIS_KEEP_SESSIONS_DAYS", _expired_sessions),
)


def run(now: datetime) -> None:
    """Remove what is older than its setting, in small transactions, for at most `BUDGET_SECONDS`.

    A part that fails stops none of the others; the round fails in the end all the same, as it is to be looked at.
    """
    deadline = time.monotonic() + BUDGET_SECONDS
    failed: dict[str, Exception] = {}
    for what, part in _parts(now, deadline):
        try:
            rows = part()
        except Exception as error:
            failed[what] = error
            continue
        if rows:
            logger.info("retention removed rows", extra={"what": what, "rows": rows})
    if failed:
        told = "; ".join(f"{what}: {type(error).__name__}: {error}" for what, error in failed.items())
        raise RuntimeError(f"Some rows could not be removed ({told}).") from next(iter(failed.values()))


def _parts(now: datetime, deadline: float) -> Iterator[tuple[str, Callable[[], int]]]:
    yield "feed", partial(_prune_feed, now, deadline)
    for rule in RULES:
        yield rule.what, partial(_remove, rule, now, deadline)
    yield "books of simulated clouds", partial(_forget_books, now)


def _forget_books(now: datetime) -> int:
    """A simulated cloud writes each call down, each listing too; nobody else looks after its books."""
    for platform in Platform.objects.filter(simulated_by()):
        try:
            cloud_books(platform).forget_before((now - BOOKS_KEPT).timestamp())
        except PlatformError as error:
            logger.warning("books not shortened", extra={"platform": platform.name, "error": str(error)})
    return 0


def _before(setting: str, now: datetime) -> datetime | None:
    days = getattr(settings, setting)
    return now - timedelta(days=days) if days else None


def _prune_feed(now: datetime, deadline: float) -> int:
    """At most half of what the round has: a flood of events must not keep the other rows for ever."""
    before = _before("IRIS_KEEP_FEED_DAYS", now)
    return feed.prune(before, deadline=deadline - BUDGET_SECONDS / 2) if before else 0


def _remove(rule: Rule, now: datetime, deadline: float) -> int:
    before = _before(rule.setting, now)
    removed = 0
    while before and time.monotonic() < deadline:
        rows = rule.rows(before)
        keys = list(rows.order_by(rule.order).values_list("pk", flat=True)[:BATCH_ROWS])
        _delete(rows.filter(pk__in=keys))
        removed += len(keys)
        if len(keys) < BATCH_ROWS:
            break
    return removed


@transaction.atomic
def _delete(rows: QuerySet[Any]) -> None:
    """Only what is free, and still may leave: a row that came back to life since it was read stays.

    Each row is held before what depends on it (a job before its tasks), as whoever changes both holds them.
    """
    free = list(rows.select_for_update(skip_locked=True, of=("self",)).order_by("pk").values_list("pk", flat=True))
    rows.model._default_manager.filter(pk__in=free).delete()
