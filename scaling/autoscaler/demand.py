"""Step 2 of a cycle: demand entries, the order in which they are served, and each job once."""

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from scaling.autoscaler.shapes import Request, Shape, understand

DEFAULT_PRIORITY = 100


class _Fields(NamedTuple):
    job_id: str
    priority: float
    submitted: float | None
    request: Request
    problem: str
    waiting_since: float | None


class DemandEntry(_Fields):
    """The waiting tasks of one job. `DemandEntry(resources={"tpu": 12}, constraints=["v5-8"], priority=200)`.

    resources: per task, `cpu` ("500m"), `memory` ("4GiB"), `disk`, and `gpu` (GPUs per task, or a share of one) or
    `tpu` (a number counts workers, so tasks); both also as mappings with variants (AUTOSCALER section 1).
    device: the long form, {"type", "variants", "count"}. constraints: words and {key, operator, values, mode}.
    tasks: how many wait. submitted: seconds on the planner's axis, None = now; what lies ahead is taken as now.
    waiting_since: since when they wait, where that is not since the submission: tasks whose slice was lost wait anew,
    and room that was idle before is no room they have left unused.
    An entry that cannot be meant is no error: `problem` says why, and its job gets an `invalid_request` hint.
    Entries without a job id are each their own demand; of those with one, each job counts once.
    """

    __slots__ = ()

    def __new__(
        cls,
        resources: Mapping[str, object] | None = None,
        constraints: Sequence[object] | None = None,
        priority: object = DEFAULT_PRIORITY,
        *,
        tasks: object = 1,
        device: object = None,
        tier: object = "standard",
        gang: object = False,
        allow_preemptible: object = False,
        allow_accelerators: object = False,
        job_id: str | None = "",
        submitted: object = None,
        waiting_since: float | None = None,
    ) -> "DemandEntry":
        request = understand(resources, device, constraints, tasks, gang, tier, allow_preemptible, allow_accelerators)
        problem = request.problem
        if not _is_number(priority):
            problem = problem or f"priority: expected a number, got {priority!r:.40}"
            priority = DEFAULT_PRIORITY
        if submitted is not None and not _is_number(submitted):
            problem = problem or f"submitted: expected a time, got {submitted!r:.40}"
            submitted = None
        since = submitted if waiting_since is None else waiting_since
        return tuple.__new__(cls, (job_id or "", priority, submitted, request, problem, since))

    @classmethod
    def refused(cls, job_id: str, problem: str) -> "DemandEntry":
        """An entry that cannot be meant for a reason its caller found."""
        return tuple.__new__(cls, (job_id, DEFAULT_PRIORITY, None, Request(None, 0, problem), problem, None))

    @property
    def tasks(self) -> int:
        """How many tasks wait, as the planner counts them (TPU workers); 0 for an entry that cannot be meant."""
        return self.request.tasks

    @property
    def shape(self) -> Shape | None:
        """None for an entry that cannot be meant."""
        return None if self.problem else self.request.shape

    def called(self, job_id: str) -> "DemandEntry":
        """The same entry under another job id."""
        return tuple.__new__(DemandEntry, (job_id, *self[1:]))

    def waiting(self, tasks: int, since: float | None = None) -> "DemandEntry":
        """The same entry with another number of waiting tasks, which wait `since` (None = as long as these)."""
        shape = self.request.shape
        if shape is not None and shape.gang_tasks:
            shape = shape.gang_of(tasks)
        request = Request(shape, tasks, self.request.problem)
        waits = self.waiting_since if since is None else since
        return tuple.__new__(DemandEntry, (*self[:3], request, self.problem, waits))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def in_order(demand: Iterable[DemandEntry], now: float) -> list[DemandEntry]:
    """Each job once, in the order of serving: priority descending, then submitted, then job id.

    Of different entries under one job id the first in that order counts.
    """

    # Stable sorts by plain fields cost less than one by made-up keys, and nothing where the field is the same for all.
    ordered = sorted(demand, key=itemgetter(0))
    known = [entry[2] for entry in ordered if entry[2] is not None]
    if len(known) == len(ordered) and max(known, default=now) <= now:
        ordered.sort(key=itemgetter(2))
    else:
        ordered.sort(key=lambda entry: now if entry.submitted is None else min(entry.submitted, now))
    if len(set(map(itemgetter(1), ordered))) > 1:
        ordered.sort(key=itemgetter(1), reverse=True)
    return ordered if len(set(map(itemgetter(0), ordered))) == len(ordered) else _each_job_once(ordered)


def _each_job_once(ordered: Iterable[DemandEntry]) -> list[DemandEntry]:
    seen: set[str] = set()
    kept = []
    for entry in ordered:
        if entry.job_id in seen:
            continue
        if entry.job_id:
            seen.add(entry.job_id)
        kept.append(entry)
    return kept


def waiting_gangs(entries: Iterable[DemandEntry]) -> dict[str, int]:
    """The gangs among the entries: job id to number of tasks."""
    return {
        job_id: tasks
        for job_id, _, _, (shape, tasks, _), problem, _ in entries
        if shape is not None and shape.gang_tasks and job_id and not problem
    }
