"""Step 2 of the cycle: the stored jobs that wait, as demand entries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scaling.autoscaler.models import DemandEntry
from scaling.models import Job
from scaling.moments import seconds

# The fields of a stored spec that say what a task needs; identity and times have columns of their own.
_REQUEST_FIELDS = (
    "resources",
    "constraints",
    "tasks",
    "device",
    "tier",
    "gang",
    "allow_preemptible",
    "allow_accelerators",
)


def job_key(source: str, job_id: str) -> str:
    """How the planner, hints and logs name a job: unique over all sources."""
    return f"{source}:{job_id}"


def job_of(key: str) -> tuple[str, str]:
    """The source and the id of a job by its key; no source has a colon in its name."""
    source, _, job_id = key.partition(":")
    return source, job_id


# What an entry is made of besides its spec's text: the spec's hash, the priority, the time of submission.
_Stamp = tuple[str, int, datetime]


@dataclass(frozen=True, slots=True)
class _Kept:
    stamp: _Stamp
    waiting: int
    entry: DemandEntry


# Reading a spec costs more than planning it, so the entry of a job is kept while its stamp stands.
_kept: dict[int, _Kept] = {}


def waiting_jobs() -> tuple[dict[int, DemandEntry], dict[str, int]]:
    """An entry for each job with waiting tasks, by primary key; and the primary key of each by its key."""
    rows = list(
        Job.objects.filter(state__in=(Job.State.PENDING, Job.State.RUNNING), pending_tasks__gt=0)
        .order_by()
        .values_list("pk", "source", "job_id", "tasks", "pending_tasks", "spec_hash", "priority", "submitted_at")
    )
    specs = _specs([row[0] for row in rows if not _is_kept(row[0], row[5:])])
    entries: dict[int, DemandEntry] = {}
    keys: dict[str, int] = {}
    kept: dict[int, _Kept] = {}
    for pk, source, job_id, tasks, waiting, spec_hash, priority, submitted_at in rows:
        key, stamp = job_key(source, job_id), (spec_hash, priority, submitted_at)
        before = _kept.get(pk)
        if before is None or before.stamp != stamp:
            before = _Kept(stamp, tasks, read_entry(specs.get(pk, {}), key, submitted_at, priority))
        if before.waiting != waiting:
            before = _Kept(before.stamp, waiting, before.entry.waiting(waiting))
        kept[pk] = before
        entries[pk] = before.entry
        keys[key] = pk
    _kept.clear()
    _kept.update(kept)
    return entries, keys


def read_entry(spec: Mapping[str, Any], key: str, submitted_at: datetime, priority: int) -> DemandEntry:
    """A stored spec as a demand entry of all its tasks; `key` becomes its job id."""
    given = {name: spec[name] for name in _REQUEST_FIELDS if spec.get(name) is not None}
    return DemandEntry(**given, priority=priority, job_id=key, submitted=seconds(submitted_at))


def _is_kept(pk: int, stamp: _Stamp) -> bool:
    kept = _kept.get(pk)
    return kept is not None and kept.stamp == stamp


def _specs(pks: list[int]) -> dict[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    for start in range(0, len(pks), 10_000):
        found.update(Job.objects.filter(pk__in=pks[start : start + 10_000]).order_by().values_list("pk", "spec"))
    return found
