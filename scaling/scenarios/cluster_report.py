"""A cluster run as JSON-ready data (AUTOSCALER section 9) and as lines for a person."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from scaling.autoscaler.models import (
    Action,
    CycleStatus,
    GroupEvaluation,
    Marker,
    PendingHint,
    Slice,
    SliceState,
)
from scaling.autoscaler.rooms import idle_since
from scaling.scenarios.cluster_runner import ClusterRun, CycleRecord
from scaling.scenarios.cluster_tasks import Job


def report(run: ClusterRun) -> dict[str, Any]:
    """The object that `--json` prints. `plan_seconds` is there only where it was measured."""
    return {
        "cycles": [_cycle(record) for record in run.cycles],
        "final": {
            "slices": [_slice(item) for _, item in sorted(run.state.slices.items()) if item.state.counts],
            "markers": [_marker(marker) for _, marker in sorted(run.state.markers.items())],
            "jobs": {job_id: _job(job) for job_id, job in sorted(run.jobs.items())},
        },
        "totals": asdict(run.totals),
    }


def _cycle(record: CycleRecord) -> dict[str, Any]:
    result = record.result
    found: dict[str, Any] = {"at": number(record.at), "status": result.status.value}
    if result.status is CycleStatus.ABORTED:
        found["reason"] = result.reason
    found["groups"] = {name: _group(item) for name, item in sorted(result.evaluations.items())}
    found["hints"] = [_hint(hint) for hint in result.hints]
    found["actions"] = [_action(action) for action in record.actions]
    if record.plan_seconds is not None:
        found["plan_seconds"] = record.plan_seconds
    return found


def _group(item: GroupEvaluation) -> dict[str, Any]:
    return {
        "outcome": item.outcome.value,
        "checks": {check.outcome.value: check.blocked for check in item.checks},
        "assigned": item.assigned,
        "deficit": item.deficit,
        "scale_up": item.scale_up,
        "scale_down": list(item.scale_down),
        "target": item.target,
        "used": item.used,
        "capacity_remaining": item.capacity_remaining,
        "quota_remaining": item.quota_remaining,
        "backoff_expires_at": number(item.backoff_expires_at),
        "stockout_until": number(item.stockout_until),
        "slices": {state.value: item.slices.get(state, 0) for state in SliceState if state.counts},
    }


def _hint(hint: PendingHint) -> dict[str, Any]:
    blocked = [
        {"group": item.group, "outcome": item.outcome.value, "until": number(item.until)} for item in hint.blocked_by
    ]
    return {"job_id": hint.job_id, "code": hint.code.value, "reason": hint.reason, "blocked_by": blocked}


def _action(action: Action) -> dict[str, Any]:
    return {"kind": action.kind.value, "group": action.group, "slice": action.slice or None, "reason": action.reason}


def _slice(item: Slice) -> dict[str, Any]:
    return {
        "id": item.name,
        "group": item.group,
        "state": item.state.value,
        "idle_since": number(idle_since(item)),
        "active_tasks": sum(worker.active_tasks for worker in item.workers),
        "created": number(item.created),
    }


def _marker(marker: Marker) -> dict[str, Any]:
    return {
        "group": marker.group,
        "kind": marker.kind.value,
        "since": number(marker.since),
        "until": number(marker.until),
        "failures": marker.failures,
        "error": marker.error,
        "acknowledged": marker.acknowledged_at is not None,
    }


def _job(job: Job) -> dict[str, int]:
    return {"pending": job.waiting, "placed": job.placed, "running": job.running, "done": job.done}


def number(value: float | None) -> float | None:
    """A time as a person would write it: whole ones without a fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# -- for a person


def lines(run: ClusterRun) -> list[str]:
    """The run as a readable account."""
    found = [line for record in run.cycles for line in _cycle_lines(record)]
    found.append("at the end")
    found += [f"  job {job_id}: {_counts(_job(job))}" for job_id, job in sorted(run.jobs.items())]
    found.append(f"  totals: {_counts(asdict(run.totals))}")
    return found


def _cycle_lines(record: CycleRecord) -> Iterable[str]:
    result = record.result
    took = "" if record.plan_seconds is None else f", planned in {record.plan_seconds * 1000:.1f} ms"
    yield f"cycle at {number(record.at)} s: {result.status.value}{took}"
    if result.status is CycleStatus.ABORTED:
        yield f"  {result.reason}"
    for name, item in sorted(result.evaluations.items()):
        counts = {state.value: count for state, count in item.slices.items() if count}
        down = f", down {', '.join(item.scale_down)}" if item.scale_down else ""
        yield (
            f"  {name}: {item.outcome.value}, assigned {item.assigned}, deficit {item.deficit}, "
            f"up {item.scale_up}{down}, {_counts(counts) or 'no slices'}"
        )
    for hint in result.hints:
        yield f"  job {hint.job_id}: {hint.reason}"
    for action in record.actions:
        where = f"{action.group}/{action.slice}" if action.slice else action.group
        yield f"  {action.kind.value} {where}: {action.reason}".rstrip(": ")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
