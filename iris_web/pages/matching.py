"""A job against every group: the planner's own matching, told group by group, and what would open each one.

What a job asks for and which groups match is worked out by `scaling.autoscaler`, the code the cycle runs; how each of
them stands is the stored evaluation. Nothing is decided here.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from iris_web.pages import addresses, words
from scaling.autoscaler.constraints import Requirement
from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.matching import GroupIndex, Matches, bits
from scaling.autoscaler.scaling_group import GroupFieldError, ScalingGroup
from scaling.autoscaler.shapes import Shape
from scaling.models import Group, Job, Marker

_SPEC = ("resources", "constraints", "device", "tasks", "tier", "gang", "allow_preemptible", "allow_accelerators")
_SAME = (
    "name", "zone", "region", "device_type", "device_variant", "devices_per_worker", "workers_per_slice", "worker_cpu",
    "worker_memory", "worker_disk", "capacity_type", "priority", "min_slices", "buffer_slices", "max_slices",
    "attributes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Advice:
    """What would open a group to the job: a sentence, and where that is done."""

    text: str
    url: str = ""
    link: str = ""
    act: str = ""


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """One group as the job finds it. `why` says what does not fit; where all fits, `outcome` says how it stands."""

    name: str
    outcome: str = ""
    detail: str = ""
    until: datetime | None = None
    why: str = ""
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All groups against one job. `other_devices` counts those that are no candidates at all."""

    problem: str = ""
    fitting: list[GroupVerdict] = field(default_factory=list)
    unfit: list[GroupVerdict] = field(default_factory=list)
    other_devices: int = 0


def entry_of(job: Job) -> DemandEntry:
    """The job as the planner reads it, with all its tasks."""
    spec: Mapping[str, Any] = job.spec if isinstance(job.spec, Mapping) else {}
    given = {name: spec[name] for name in _SPEC if spec.get(name) is not None}
    return DemandEntry(**given, priority=job.priority, job_id=job.job_id)


class _Row(NamedTuple):
    """What is read of every group: what changes its record, and how it stands."""

    pk: int
    name: str
    version: int
    updated_at: datetime
    max_slices: int
    pool: str | None
    pool_id: int | None
    pool_limit: int | None
    outcome: str | None
    detail: str | None
    stockout_until: datetime | None
    backoff_expires_at: datetime | None


_COLUMNS = (
    *_Row._fields[:5], "quota_pool__name", "quota_pool_id", "quota_pool__limit", "status__outcome", "status__detail",
    "status__stockout_until", "status__backoff_expires_at",
)  # fmt: skip


def compare(job: Job, blocked_by: Mapping[str, Mapping[str, Any]]) -> Comparison:
    """Every group's verdict on the job. Three queries; `blocked_by` is what the hint says, by group name."""
    entry = entry_of(job)
    shape = entry.shape
    if shape is None:
        return Comparison(problem=entry.problem or entry.request.problem)
    rows = [_Row(*row) for row in Group.objects.order_by("priority", "name").values_list(*_COLUMNS)]
    index = _index(rows)
    matches, candidates = index.matches(shape), index.device(shape)
    by_name = {row.name: row for row in rows}
    markers = _open_markers()
    found = Comparison(other_devices=len(rows) - candidates.bit_count())
    for bit in bits(candidates):
        record = index.groups[bit]
        row, why = by_name[record.name], _misfit(1 << bit, matches, shape, index, record)
        if why:
            found.unfit.append(GroupVerdict(row.name, why=why))
        else:
            found.fitting.append(_standing(row, blocked_by.get(row.name), markers))
    return found


# The planner's index of all groups, kept until one of them is edited, comes or goes.
_kept: tuple[tuple[object, ...], GroupIndex] | None = None


def _index(rows: Sequence[_Row]) -> GroupIndex:
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
    """Why this group can never serve the job, by the first test that it fails; "" where it can."""
    if not matches.devices_and_constraints & mask:
        failed: list[Requirement] = [item for item in shape.required if not index.where(item) & mask]
        return "does not meet " + ", ".join(str(item) for item in failed[:3])
    if not matches.coschedules & mask:
        return f"{shape.gang_tasks} tasks at once do not fill slices of {group.workers_per_slice} workers"
    if not matches.holds_a_task & mask:
        return "an empty worker is too small for one task"
    if not matches.tier_allows & mask:
        return "is preemptible; a production job does not go there unless it says allow_preemptible"
    needed = -(-shape.gang_tasks // group.workers_per_slice)
    if shape.gang_tasks and needed > group.max_slices:
        return f"the gang needs {needed} slices, its max is {group.max_slices}"
    return ""


def _open_markers() -> dict[tuple[str, str], int]:
    """Ids of open markers by (group, kind). One query."""
    rows = Marker.objects.filter(closed_at__isnull=True).values_list("group__name", "kind", "pk")
    return {(name, kind): pk for name, kind, pk in rows}


def _standing(row: _Row, blocked: Mapping[str, Any] | None, markers: Mapping[tuple[str, str], int]) -> GroupVerdict:
    outcome = str(blocked["outcome"]) if blocked else row.outcome or ""
    detail = row.detail if row.outcome == outcome and row.detail else ""
    advise = _ADVICE.get(outcome)
    return GroupVerdict(
        row.name, outcome, detail, _until(blocked, row, outcome), advice=advise(row, markers) if advise else None
    )


def _until(blocked: Mapping[str, Any] | None, row: _Row, outcome: str) -> datetime | None:
    if blocked and (until := words.moment(blocked.get("until"))):
        return until
    return {"STOCKOUT": row.stockout_until, "BACKOFF": row.backoff_expires_at}.get(outcome)


_Advise = Callable[[_Row, Mapping[tuple[str, str], int]], Advice]


def _clear(kind: str, text: str) -> _Advise:
    def advise(row: _Row, markers: Mapping[tuple[str, str], int]) -> Advice:
        pk = markers.get((row.name, kind))
        return Advice(text, f"/stockouts/{pk}/clear/", "Clear and retry now", "clear_marker") if pk else Advice(text)

    return advise


def _quota(row: _Row, markers: Mapping[tuple[str, str], int]) -> Advice:
    if (row.name, "quota") in markers:
        return _clear("quota", "The platform's own quota is used up: ask for more there, or wait.")(row, markers)
    if row.pool is None:
        return Advice("Its quota is used up.")
    text = f"Raise the limit of quota pool {row.pool} (now {row.pool_limit}), or wait until slices of the pool go."
    return Advice(text, f"/admin/scaling/quotapool/{row.pool_id}/change/", "Edit the pool", "set_quota")


def _at(path: str, text: str, link: str, act: str) -> _Advise:
    return lambda row, _markers: Advice(text, f"{addresses.group(row.name)}{path}", link, act)


_ADVICE: dict[str, _Advise] = {
    "AVAILABLE": lambda _row, _markers: Advice("May grow: the next cycle buys what demand needs."),
    "CAPACITY_EXCEEDED": lambda row, _markers: Advice(
        f"Raise its max (now {row.max_slices} slices), or wait until slices of it fall idle.",
        f"{addresses.group(row.name)}limits/", "Edit limits", "set_limits",
    ),
    "QUOTA_EXCEEDED": _quota,
    "STOCKOUT": _clear("stockout", "Wait until the stock-out ends; then one slice is tried."),
    "BACKOFF": _clear("backoff", "Wait: it is tried again by itself when the back-off ends."),
    "CREATE_REFUSED": _clear("permanent", "Mend what the platform names, then clear it or edit the group."),
    "PROBING": lambda _row, _markers: Advice("Wait for its probe: once that slice is ready, it opens."),
    "TIER_BLOCKED": lambda row, _markers: Advice(
        "Opens with the lowest blocked tier of its quota pool.",
        f"/groups/?{urlencode({'pool': row.pool or ''})}", "Groups of the pool", "view",
    ),
    "PAUSED": _at("resume/", "Resume the group.", "Resume", "pause"),
    "DRAINING": _at("undrain/", "End its drain.", "Undrain", "drain"),
    "PLATFORM_UNREACHABLE": lambda _row, _markers: Advice(
        "Wait until its platform answers.", "/settings/#platforms", "Platforms", "view"
    ),
}  # fmt: skip


def tally(verdicts: list[GroupVerdict]) -> list[tuple[str, int]]:
    """(outcome, groups), the most frequent first."""
    return Counter(verdict.outcome for verdict in verdicts).most_common()
