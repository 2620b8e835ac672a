"""Reads what is stored and finds what is wrong in it. About nine queries, each bounded."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, QuerySet

from scaling import source_views
from scaling.models import Job, Loop, Marker, Notice, Platform, SourceState
from scaling.notices import findings
from scaling.notices.findings import (
    ALL_LOOPS,
    JOBS_NAMED,
    Back,
    Finding,
    Key,
    LoopFact,
    PlatformFact,
    SourceFact,
    StockoutFact,
    WaitingFact,
    WaitingJob,
)
from scaling.notices.kinds import NoticeKind
from scaling.open_markers import OPEN, is_owned

# The watch's own row among the loops: who watches cannot tell of their own silence.
WATCH = "notices"
# An instance that has not asked a source for so long is gone, and what it saw with it.
SOURCE_FORGOTTEN = timedelta(hours=1)
_NO_HINT = "the planner has not said why yet"
_SOURCES = {NoticeKind.PROMETHEUS: "prometheus", NoticeKind.GATEWAY: "gateway"}


def find(
    now: datetime, watching_since: datetime, waiting_limit: timedelta, told: frozenset[Key], settle: timedelta
) -> list[Finding]:
    """Everything that is wrong at `now`. `told`: what was told already; `settle`: the time to come back with others."""
    found = [
        *findings.stockouts(_stockouts(now), now),
        *findings.waiting(_waiting(now - waiting_limit), waiting_limit),
        *findings.loops(_loops(), now, watching_since, told, _back(now, settle)),
        *findings.platforms(_platforms()),
    ]
    heard = SourceState.objects.filter(asked_at__gt=now - SOURCE_FORGOTTEN).order_by("instance")
    seen = source_views.current(heard)
    for kind, name in _SOURCES.items():
        found += findings.source(kind, _source(seen.get(name, ())))
    return found


def _stockouts(now: datetime) -> Iterable[StockoutFact]:
    rows = Marker.objects.filter(OPEN, kind=Marker.Kind.STOCKOUT).select_related("group")
    for row in rows:
        yield StockoutFact(row.group.name, row.since, row.until, row.failures, row.message, is_owned(row, now))


def waiting_since(before: datetime) -> QuerySet[Job]:
    """Jobs of which a part has waited since `before` or longer."""
    states = (Job.State.PENDING, Job.State.RUNNING)
    return Job.objects.filter(state__in=states, pending_tasks__gt=0, submitted_at__lte=before, received_at__lte=before)


def _waiting(before: datetime) -> Iterable[WaitingFact]:
    jobs = waiting_since(before)
    for source, count in jobs.order_by().values_list("source").annotate(n=Count("pk")):
        first = jobs.filter(source=source).select_related("hint").order_by("submitted_at", "pk")[:JOBS_NAMED]
        yield WaitingFact(source, count, [_job(row) for row in first])


def _job(row: Job) -> WaitingJob:
    hint = getattr(row, "hint", None)
    return WaitingJob(row.source, row.job_id, row.submitted_at, hint.reason if hint else _NO_HINT)


def _loops() -> Iterable[LoopFact]:
    for row in Loop.objects.exclude(name=WATCH):
        due = row.running_since or row.next_due_at
        yield LoopFact(row.name, row.period_seconds, due, row.last_finished_at, row.last_error)


def _back(now: datetime, settle: timedelta) -> Back | None:
    """A stall of all loops that nobody has seen end yet ends now, where it ends."""
    latest = Notice.objects.filter(kind=NoticeKind.LOOP, object=ALL_LOOPS).order_by("-opened_at", "-id").first()
    if latest is None:
        return None
    at = latest.absent_since or now
    return Back(at, at + settle)


def _platforms() -> Iterable[PlatformFact]:
    for row in Platform.objects.filter(unreachable_since__isnull=False):
        if row.unreachable_since is not None:
            yield PlatformFact(row.name, row.unreachable_since, row.last_error)


def _source(rows: Iterable[SourceState]) -> list[SourceFact]:
    return [SourceFact(row.instance, row.since, row.trouble) for row in rows]
