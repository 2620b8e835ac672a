"""A job against every group: the planner's own matching, told group by group, and what would open each one.

What a job asks for and which groups match is worked out by `scaling.autoscaler`, the code the cycle runs; how each of
them stands is the stored evaluation. Nothing is decided here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iris_web.pages.halts import Standstill
from iris_web.pages.lasting import CHAINS_READ, Block, blocks_of
from iris_web.pages.openings import Candidate, openings, sharers
from iris_web.pages.remedies import GroupRow
from iris_web.pages.standing import Around, GroupVerdict, standing
from iris_web.pages.tiers import open_marks
from scaling import clock
from scaling.autoscaler.constraints import Requirement
from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.matching import GroupIndex, Matches, bits
from scaling.autoscaler.scaling_group import GroupFieldError, ScalingGroup
from scaling.autoscaler.shapes import Shape
from scaling.counting import counted
from scaling.models import Group, GroupStatus, Job

WITHHELD = "Matches, but is preemptible: a production job goes there only if it says allow_preemptible."
_SPEC = ("resources", "constraints", "device", "tasks", "tier", "gang", "allow_preemptible", "allow_accelerators")
_SAME = (
    "name", "zone", "region", "device_type", "device_variant", "devices_per_worker", "workers_per_slice", "worker_cpu",
    "worker_memory", "worker_disk", "capacity_type", "priority", "min_slices", "buffer_slices", "max_slices",
    "attributes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """All groups against one job. `withheld` match but for one thing: they are preemptible and it is production.

    `other_devices` counts those that are no candidates at all.
    """

    problem: str = ""
    fitting: list[GroupVerdict] = field(default_factory=list)
    withheld: list[GroupVerdict] = field(default_factory=list)
    unfit: list[GroupVerdict] = field(default_factory=list)
    other_devices: int = 0


def entry_of(job: Job) -> DemandEntry:
    """The job as the planner reads it, with all its tasks."""
    spec: Mapping[str, Any] = job.spec if isinstance(job.spec, Mapping) else {}
    given = {name: spec[name] for name in _SPEC if spec.get(name) is not None}
    return DemandEntry(**given, priority=job.priority, job_id=job.job_id)


_COLUMNS = (
    *GroupRow._fields[:5], "quota_pool__name", "quota_pool_id", "allocation_tier",
    "status__outcome", "status__detail", "status__stockout_until", "status__backoff_expires_at",
)  # fmt: skip


def compare(job: Job, blocked_by: Mapping[str, Mapping[str, Any]]) -> Comparison:
    """Every group's verdict on the job. Three queries, up to four more where groups that fit are blocked, and two more
    where one stands still.

    `blocked_by` is what the hint says, by group name.
    """
    entry = entry_of(job)
    shape = entry.shape
    if shape is None:
        return Comparison(problem=entry.problem or entry.request.problem)
    rows = [GroupRow(*row) for row in Group.objects.order_by("priority", "name").values_list(*_COLUMNS)]
    index = _index(rows)
    matches, candidates = index.matches(shape), index.device(shape)
    by_name = {row.name: row for row in rows}
    fitting: list[tuple[GroupRow, ScalingGroup]] = []
    found = Comparison(other_devices=len(rows) - candidates.bit_count())
    for bit in bits(candidates):
        record = index.groups[bit]
        row, why = by_name[record.name], _misfit(1 << bit, matches, shape, index, record)
        if why:
            found.unfit.append(GroupVerdict(row.name, why=why))
        elif not matches.tier_allows & 1 << bit:
            found.withheld.append(GroupVerdict(row.name, why=WITHHELD))
        else:
            fitting.append((row, record))
    around = _around(fitting[:CHAINS_READ], shape, blocked_by)
    found.fitting.extend(standing(row, blocked_by.get(row.name), around) for row, _ in fitting)
    return found


def _around(
    fitting: Sequence[tuple[GroupRow, ScalingGroup]], shape: Shape, blocked_by: Mapping[str, Mapping[str, Any]]
) -> Around:
    blocking = _blocking([row for row, _ in fitting])
    limited, closed = [], []
    for row, group in fitting:
        codes = {block.code for block in blocking.get(row.pk, ())} | {
            row.outcome,
            blocked_by.get(row.name, {}).get("outcome"),
        }
        if codes & {"CAPACITY_EXCEEDED", "QUOTA_EXCEEDED"}:
            slices = -(-shape.gang_tasks // group.workers_per_slice)
            limited.append(Candidate(row.pk, row.pool_id, row.tier, group.slice_cost, slices))
        if codes & {"TIER_BLOCKED", "QUOTA_EXCEEDED"}:
            closed.append(row.pool_id)
    sharing = sharers(closed)
    now = clock.now()
    return Around(open_marks(), Standstill(now), blocking, openings(limited, sharing), sharing, now)


# The planner's index of all groups, kept until one of them is edited, comes or goes.
_kept: tuple[tuple[object, ...], GroupIndex] | None = None


def _index(rows: Sequence[GroupRow]) -> GroupIndex:
    global _kept
    stamp = tuple((row.pk, row.name, row.version, row.updated_at) for row in rows)
    kept = _kept
    if kept is None or kept[0] != stamp:
        groups = Group.objects.order_by("priority", "name").only(*_SAME)
        _kept = kept = (stamp, GroupIndex([record for group in groups if (record := _record(group))]))
    return kept[1]


def _record(row: Group) -> ScalingGroup | None:
    """The group as the planner sees it; None for a stored one that it would refuse."""
    try:
        return ScalingGroup({name: getattr(row, name) for name in _SAME})
    except GroupFieldError:
        return None


def _misfit(mask: int, matches: Matches, shape: Shape, index: GroupIndex, group: ScalingGroup) -> str:
    """Why this group can never serve the job, by the first test that it fails but for its tier; "" where it can."""
    if not matches.devices_and_constraints & mask:
        failed: list[Requirement] = [item for item in shape.required if not index.where(item) & mask]
        return "does not meet " + ", ".join(str(item) for item in failed[:3])
    if not matches.coschedules & mask:
        tasks = f"{counted(shape.gang_tasks, 'task')} at once {'does' if shape.gang_tasks == 1 else 'do'}"
        return f"{tasks} not fill slices of {counted(group.workers_per_slice, 'worker')}"
    if not matches.holds_a_task & mask:
        return "an empty worker is too small for one task"
    needed = -(-shape.gang_tasks // group.workers_per_slice)
    if shape.gang_tasks and needed > group.max_slices:
        return f"the gang needs {counted(needed, 'slice')}, its max is {group.max_slices}"
    return ""


def _blocking(rows: Sequence[GroupRow]) -> dict[int, list[Block]]:
    """Every check that blocks, with its detail, per group: the planner's chain as stored. One query, none where all
    may grow.
    """
    blocked = [row.pk for row in rows if row.outcome not in (None, "AVAILABLE")]
    if not blocked:
        return {}
    chains = GroupStatus.objects.filter(group_id__in=blocked).values_list("group_id", "checks")
    return {pk: blocks_of(checks) for pk, checks in chains}


def tally(verdicts: list[GroupVerdict]) -> list[tuple[str, int]]:
    """(outcome, groups), the most frequent first."""
    return Counter(verdict.outcome for verdict in verdicts).most_common()
