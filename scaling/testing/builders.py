"""Rows for tests and for looking at pages: one function per noun, every argument optional, `now` always given.

Times are aware datetimes; `ago` and `ahead` read as durations from `now` in seconds.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import Group as RoleGroup

from scaling.models import (
    Action,
    Cycle,
    Group,
    GroupStatus,
    Hint,
    Installation,
    Job,
    Loop,
    Marker,
    Platform,
    Slice,
    Task,
    Worker,
)

# The filter chain of AUTOSCALER section 4, in its order.
CHAIN = (
    "PLATFORM_UNREACHABLE",
    "DRAINING",
    "PAUSED",
    "CREATE_REFUSED",
    "CAPACITY_EXCEEDED",
    "QUOTA_EXCEEDED",
    "BACKOFF",
    "STOCKOUT",
    "PROBING",
    "TIER_BLOCKED",
)
_numbers = count(1)


def before(now: datetime, seconds: float) -> datetime:
    return now - timedelta(seconds=seconds)


def after(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=seconds)


def make_user(name: str, role: str = "viewer", password: str = "long-enough-1") -> AbstractUser:  # noqa: S107 - tests
    """A person with one of the three roles, or with none (`role=""`)."""
    user: AbstractUser = get_user_model().objects.create_user(name, password=password)
    if role:
        user.groups.add(RoleGroup.objects.get_or_create(name=role)[0])
    return user


def make_installation(**fields: Any) -> Installation:
    found = Installation.objects.first() or Installation(identity=str(uuid4()))
    for name, value in fields.items():
        setattr(found, name, value)
    found.save()
    return found


def make_platform(name: str = "simulated", **fields: Any) -> Platform:
    defaults = {"kind": "simulated", "simulated": True, "mode": Platform.Mode.ACT} | fields
    return Platform.objects.get_or_create(name=name, defaults=defaults)[0]


def make_group(name: str = "", **fields: Any) -> Group:
    """A group of single-worker TPU v5p-8 slices on the simulated platform unless told otherwise."""
    defaults: dict[str, Any] = {
        "platform": fields.pop("platform", None) or make_platform(),
        "zone": "us-east5-a",
        "region": "us-east5",
        "device_type": "tpu",
        "device_variant": "v5p-8",
        "devices_per_worker": 4,
        "max_slices": 8,
    }
    return Group.objects.create(name=name or f"group-{next(_numbers)}", **(defaults | fields))


def make_checks(outcome: str = "AVAILABLE", detail: str = "", also: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The verdicts of a filter chain in which `outcome` is the first that blocks, and `also` block behind it."""
    blocking = {outcome, *also}
    return [
        {"outcome": code, "blocked": code in blocking, "detail": detail if code == outcome else ""} for code in CHAIN
    ]


def make_status(
    group: Group, now: datetime, outcome: str = "AVAILABLE", detail: str = "", **fields: Any
) -> GroupStatus:
    also = fields.pop("also", ())
    defaults = {
        "at": now,
        "outcome": outcome,
        "detail": detail,
        "checks": make_checks(outcome, detail, also),
        "capacity_remaining": group.max_slices,
    }
    return GroupStatus.objects.update_or_create(group=group, defaults=defaults | fields)[0]


def make_slice(group: Group, now: datetime, state: str = "READY", idle: float | None = 0, **fields: Any) -> Slice:
    """A slice with all its workers; `idle` seconds without work, None = its first worker is busy."""
    name = fields.pop("name", "") or f"{group.name.lower().replace('_', '-')[:44]}-{uuid4().hex[:8]}"
    ready = state in {"READY", "DRAINING"}
    idle_since = before(now, idle) if ready and idle is not None else None
    defaults = {
        "platform": group.platform,
        "state": state,
        "requested_at": before(now, 900),
        "ready_at": before(now, 800) if ready else None,
        "idle_since": idle_since,
    }
    row = Slice.objects.create(name=name, group=group, **(defaults | fields))
    Worker.objects.bulk_create(
        Worker(
            name=f"{name}-{index}",
            slice=row,
            index=index,
            state="READY" if ready else "BOOTING",
            heartbeat_at=now if ready else None,
            heard_at=now if ready else None,
            idle_since=idle_since,
        )
        for index in range(group.workers_per_slice)
    )
    return row


def make_job(now: datetime, job_id: str = "", **fields: Any) -> Job:
    """A pending job of one task that wants one TPU v5p-8 worker."""
    number = next(_numbers)
    tasks = fields.get("tasks", 1)
    defaults = {
        "source": "demo",
        "spec": {"resources": {"tpu": {"variant": "v5p-8", "count": 1}}, "tasks": tasks},
        "spec_hash": f"{number:064d}",
        "pending_tasks": tasks,
        "submitted_at": before(now, 60),
    }
    return Job.objects.create(job_id=job_id or f"job-{number}", **(defaults | fields))


def make_task(job: Job, worker: Worker, now: datetime, **fields: Any) -> Task:
    defaults = {"state": Task.State.RUNNING, "assigned_at": before(now, 120), "devices": 4}
    return Task.objects.create(job=job, worker=worker, **(defaults | fields))


def make_hint(job: Job, now: datetime, code: str = "tier_blocked", text: str = "", **fields: Any) -> Hint:
    defaults = {"since": before(now, 60), "blocked_by": []}
    return Hint.objects.create(job=job, code=code, reason=f"{code}: {text}".rstrip(": "), **(defaults | fields))


def make_marker(group: Group, now: datetime, kind: str = "stockout", **fields: Any) -> Marker:
    defaults = {
        "since": before(now, 60),
        "until": None if kind == "permanent" else after(now, 840),
        "message": "There is no more capacity in the zone",
        "last_failure_at": before(now, 60),
    }
    return Marker.objects.create(group=group, kind=kind, **(defaults | fields))


def make_action(kind: str, now: datetime, **fields: Any) -> Action:
    row: Action = Action.objects.create(kind=kind, at=fields.pop("at", now), **fields)
    return row


def make_cycle(now: datetime, status: str = "ok", reason: str = "", **fields: Any) -> Cycle:
    defaults = {"duration_ms": 84.0, "plan_ms": 12.0, "counts": {}}
    return Cycle.objects.create(started_at=now, status=status, reason=reason, **(defaults | fields))


def make_loop(name: str, now: datetime, period: float = 10, **fields: Any) -> Loop:
    defaults = {
        "period_seconds": period,
        "next_due_at": after(now, period),
        "last_started_at": before(now, 2),
        "last_finished_at": before(now, 1),
        "round": 100,
    }
    return Loop.objects.update_or_create(name=name, defaults=defaults | fields)[0]
