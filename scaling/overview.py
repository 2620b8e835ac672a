"""The state of the whole cluster in a few counted facts: behind `manage.py status`, the API and the health checks."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet, Sum

from scaling.models import Cycle, Group, GroupStatus, Hint, Installation, Job, Loop, Marker, Platform, Slice
from scaling.open_markers import OPEN, count_open

UNFINISHED = (Job.State.PENDING, Job.State.RUNNING)


def overview(now: datetime) -> dict[str, Any]:
    """JSON-ready facts as of `now`; times are ISO texts, ages and durations carry their unit."""
    return {
        "at": now.isoformat(),
        **_installation(),
        "cycle": last_cycle(now),
        "loops": [_loop(row) for row in Loop.objects.all()],
        "platforms": [_platform(row) for row in Platform.objects.all()],
        "groups": _groups(now),
        "slices": counts(Slice.objects.filter(state__in=Slice.LIVE), "state"),
        "jobs": counts(Job.objects.all(), "state"),
        **_waiting(now),
        "markers": _markers(),
        "hints": counts(Hint.objects.all(), "code"),
    }


def counts(rows: QuerySet[Any], by: str) -> dict[str, int]:
    """How many rows there are of each value of the column `by`."""
    return dict(rows.order_by().values_list(by).annotate(number=Count("pk")).order_by(by))


def last_cycle(now: datetime) -> dict[str, Any] | None:
    """The last cycle of any outcome, with its age; None before the first."""
    cycle = Cycle.objects.order_by("-id").first()
    if cycle is None:
        return None
    return {
        "id": cycle.pk,
        "started_at": cycle.started_at.isoformat(),
        "age_seconds": round((now - cycle.started_at).total_seconds(), 1),
        "status": cycle.status,
        "reason": cycle.reason,
        "duration_ms": round(cycle.duration_ms, 1),
        "plan_ms": round(cycle.plan_ms, 1),
        "counts": cycle.counts,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _installation() -> dict[str, Any]:
    row = Installation.objects.first()
    if row is None:
        return {"installation": None, "demonstration": False, "halted": None}
    halted = {"since": _iso(row.halted_since), "by": row.halted_by, "reason": row.halted_reason}
    return {
        "installation": row.identity,
        "demonstration": row.demonstration,
        "halted": halted if row.halted_since else None,
    }


def _loop(row: Loop) -> dict[str, Any]:
    return {
        "name": row.name,
        "period_seconds": row.period_seconds,
        "last_finished_at": _iso(row.last_finished_at),
        "last_lateness_ms": round(row.last_lateness_ms, 1),
        "skipped": row.skipped,
        "running_since": _iso(row.running_since),
        "last_error": row.last_error,
    }


def _platform(row: Platform) -> dict[str, Any]:
    told = {"unreachable_since": _iso(row.unreachable_since), "last_error": row.last_error}
    return {"name": row.name, "kind": row.kind, "simulated": row.is_simulated, "mode": row.mode, **told}


def _groups(now: datetime) -> dict[str, Any]:
    paused = Q(pause_since__isnull=False) & (Q(pause_until=None) | Q(pause_until__gt=now))
    return {
        "total": Group.objects.count(),
        "draining": Group.objects.filter(drain_since__isnull=False).count(),
        "paused": Group.objects.filter(paused).count(),
        "by_outcome": counts(GroupStatus.objects.all(), "outcome"),
    }


def _waiting(now: datetime) -> dict[str, Any]:
    waiting = Job.objects.filter(state__in=UNFINISHED, pending_tasks__gt=0)
    found = waiting.aggregate(tasks=Sum("pending_tasks"), oldest=Min("submitted_at"))
    oldest = found["oldest"]
    return {
        "pending_tasks": found["tasks"] or 0,
        "oldest_wait_seconds": round((now - oldest).total_seconds(), 1) if oldest else None,
    }


def _markers() -> dict[str, Any]:
    """What is not acknowledged as the badge of the pages counts it."""
    open_ones = Marker.objects.filter(OPEN)
    return {
        "open": counts(open_ones, "kind"),
        "unacknowledged": count_open().unowned,
        "need_a_person": open_ones.filter(needs_person=True).count(),
    }
