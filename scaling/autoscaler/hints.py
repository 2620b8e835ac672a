"""Pending hints: why a job is not fully placed (AUTOSCALER section 8), one per job, told from what the planner used."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scaling.autoscaler.group_plan import GroupPlan, Standing
from scaling.autoscaler.matching import GroupIndex, bits
from scaling.autoscaler.mismatch import NameBook, explain_mismatch
from scaling.autoscaler.models import BlockedBy, HintCode, Outcome, PendingHint, SliceState
from scaling.autoscaler.packing import UNLIMITED, Room, Stage
from scaling.autoscaler.rooms import Hold
from scaling.autoscaler.seeker import Placement, Routed, Seeker
from scaling.autoscaler.shapes import UNIT, Shape
from scaling.autoscaler.words import DeviceType

NAMED_GROUPS = 5
_LONGEST_MISMATCH = 199


class Verdict(NamedTuple):
    """Why the tasks of a shape found no room."""

    code: HintCode
    text: str
    blocked_by: tuple[BlockedBy, ...] = ()


class _Coming(NamedTuple):
    """What is on its way to an entry: slices by group and by how far they are."""

    requested: Counter[str]
    deferred: Counter[str]
    booting: Counter[str]


class HintWriter:
    """Writes the hints of one plan. Texts are worked out once per shape and kind of placement, not once per job."""

    def __init__(
        self,
        plans: Sequence[GroupPlan],
        index: GroupIndex,
        holds: Mapping[str, Hold],
        since: Mapping[str, tuple[HintCode, float]],
        now: float,
    ) -> None:
        self.plans = plans
        self.index = index
        self.holds = holds
        self.since = since
        self.now = now
        self._names: NameBook | None = None
        self._verdicts: dict[int, Verdict] = {}
        self._labels: dict[int, tuple[str, int]] = {}
        self._coming_texts: dict[tuple[object, ...], tuple[HintCode | None, str]] = {}

    def write(self, routed: Iterable[Routed]) -> tuple[PendingHint, ...]:
        """The hints of all entries that are not fully given room on READY slices, in their order."""
        return tuple(hint for item in routed if (hint := self._hint(item)) is not None)

    def _hint(self, item: Routed) -> PendingHint | None:
        entry, seeker, placed, left = item
        if seeker is None:
            code, text = HintCode.INVALID_REQUEST, f"{HintCode.INVALID_REQUEST}: {entry.problem}"
            return self._dated(entry.job_id, code, text, (), entry.job_id, 0)
        coming_code, coming = self._coming(placed)
        if not left:
            if coming_code is None:
                return None
            return self._dated(entry.job_id, coming_code, f"{coming_code}: {coming}", (), *self._label(seeker))
        hold = self.holds.get(entry.job_id) if seeker.shape.gang_tasks else None
        verdict = self._verdict(seeker) if hold is None else _held_verdict(hold)
        reason = _reason(verdict, entry.request.tasks, left, coming)
        return self._dated(entry.job_id, verdict.code, reason, verdict.blocked_by, *self._label(seeker))

    def _dated(
        self,
        job_id: str,
        code: HintCode,
        reason: str,
        blocked_by: tuple[BlockedBy, ...],
        requested: str,
        available: int,
    ) -> PendingHint:
        before = self.since.get(job_id)
        since = before[1] if before is not None and before[0] is code else self.now
        return PendingHint(job_id, code, reason, blocked_by, since, requested, available)

    # -- what is coming

    def _coming(self, placed: Sequence[Placement]) -> tuple[HintCode | None, str]:
        """The code and words for what is on its way; (None, "") when all that was given is READY."""
        key = tuple([_arrival(room) for room, _ in placed])
        found = self._coming_texts.get(key)
        if found is None:
            found = self._coming_texts[key] = self._describe(placed)
        return found

    def _describe(self, placed: Sequence[Placement]) -> tuple[HintCode | None, str]:
        coming = _Coming(Counter(), Counter(), Counter())
        for room, _ in placed:
            name = self.plans[room.group].group.name
            if room.stage is Stage.NEW:
                coming.requested[name] += room.granted
                coming.deferred[name] += room.slices - room.granted
            elif room.stage is Stage.IN_FLIGHT or (room.slice is not None and room.slice.state.in_flight):
                is_booting = room.slice is not None and room.slice.state is SliceState.BOOTING
                (coming.booting if is_booting else coming.requested)[name] += 1
        parts = [
            *_each(coming.requested, "requested in"),
            *_each(coming.deferred, "deferred by a rate in"),
            *_each(coming.booting, "booting in"),
        ]
        if not parts:
            return None, ""
        waits = not (+coming.requested or +coming.deferred)
        return (HintCode.WAITING_FOR_WORKERS if waits else HintCode.SCALING_UP), ", ".join(parts)

    # -- what is missing

    def _label(self, seeker: Seeker) -> tuple[str, int]:
        """What was asked for, as logs show it, and how many groups match."""
        found = self._labels.get(id(seeker))
        if found is None:
            available = seeker.matches.tier_allows.bit_count()
            found = self._labels[id(seeker)] = (requested_words(seeker.shape, self.index), available)
        return found

    def _verdict(self, seeker: Seeker) -> Verdict:
        found = self._verdicts.get(id(seeker))
        if found is None:
            found = self._verdicts[id(seeker)] = self._judge(seeker)
        return found

    def _judge(self, seeker: Seeker) -> Verdict:
        """The code of the groups that got furthest."""
        matches, shape = seeker.matches, seeker.shape
        large_enough = self._large_enough(matches.holds_a_task, shape.gang_tasks)
        allowed = large_enough & matches.tier_allows
        if allowed:
            return self._blocked(allowed, shape.gang_tasks)
        if large_enough:
            names = _listed([plan.group.name for plan in self._among(large_enough)])
            return Verdict(HintCode.TIER_BLOCKED, f"only preemptible groups match a production job: {names}")
        if matches.holds_a_task:
            return Verdict(HintCode.INSUFFICIENT_RESOURCES, self._too_small(matches.holds_a_task, shape.gang_tasks))
        if matches.coschedules:
            return Verdict(HintCode.INSUFFICIENT_RESOURCES, self._too_weak(matches.coschedules, shape))
        if matches.devices_and_constraints:
            return Verdict(HintCode.COSCHEDULE_MISMATCH, self._no_multiple(matches.devices_and_constraints, shape))
        self._names = self._names or NameBook(self.index)
        room = _LONGEST_MISMATCH - len(HintCode.NO_MATCHING_GROUP) - 2
        return Verdict(HintCode.NO_MATCHING_GROUP, explain_mismatch(shape, self.index, self._names)[:room])

    def _among(self, mask: int) -> list[GroupPlan]:
        return [self.plans[bit] for bit in bits(mask)]

    def _large_enough(self, mask: int, gang_tasks: int) -> int:
        """The groups whose max holds the gang."""
        if not gang_tasks:
            return mask
        small = 0
        for plan in self._among(mask):
            if gang_tasks // plan.group.workers_per_slice > plan.most_slices():
                small |= 1 << plan.index
        return mask & ~small

    def _blocked(self, mask: int, gang_tasks: int) -> Verdict:
        plans = self._among(mask)
        standings = [_standing(plan, gang_tasks) for plan in plans]
        if any(standing.outcome is Outcome.AVAILABLE for standing in standings):
            return Verdict(HintCode.SCALING_UP, "one slice per group and cycle while READY room stays unused")
        return Verdict(
            HintCode.TIER_BLOCKED,
            _listed([f"{plan.group.name} {standing.outcome}" for plan, standing in zip(plans, standings, strict=True)]),
            tuple(
                BlockedBy(plan.group.name, *_facts(standing)) for plan, standing in zip(plans, standings, strict=True)
            ),
        )

    def _too_small(self, mask: int, gang_tasks: int) -> str:
        parts = [
            f"{plan.group.name} needs {gang_tasks // plan.group.workers_per_slice} slices, has at most "
            f"{plan.most_slices()}"
            for plan in self._among(mask)
        ]
        return f"no group's max holds the gang of {gang_tasks} tasks: {_listed(parts)}"

    def _too_weak(self, mask: int, shape: Shape) -> str:
        parts = [
            f"{plan.group.name} {shortage}" for plan in self._among(mask) for shortage in _shortages(plan, shape)[:1]
        ]
        return f"no empty worker holds one task: {_listed(parts)}"

    def _no_multiple(self, mask: int, shape: Shape) -> str:
        parts = [f"{plan.group.name} has {plan.group.workers_per_slice}" for plan in self._among(mask)]
        return f"{shape.gang_tasks} tasks are no multiple of the workers per slice: {_listed(parts)}"


def _arrival(room: Room) -> tuple[object, ...]:
    """What the words for a placement depend on."""
    state = room.slice.state if room.slice is not None else None
    return (room.group, room.stage, state, room.slices, room.granted)


def _each(counts: Counter[str], where: str) -> list[str]:
    found = [f"{count} slice{'' if count == 1 else 's'} {where} {name}" for name, count in counts.items() if count]
    return found if len(found) <= NAMED_GROUPS else [*found[:NAMED_GROUPS], f"and in {len(found) - NAMED_GROUPS} more"]


def _reason(verdict: Verdict, tasks: int, left: int, coming: str) -> str:
    """The words for a job; of one that is partly placed also how much is missing and what is coming."""
    missing = f"{left} of {tasks} tasks: " if left < tasks else ""
    room = _LONGEST_MISMATCH if verdict.code is HintCode.NO_MATCHING_GROUP else UNLIMITED
    return f"{verdict.code}: {missing}{verdict.text}{f'; {coming}' if coming else ''}"[:room]


def _held_verdict(hold: Hold) -> Verdict:
    """A gang accepted in part whose rest cannot be asked for now."""
    standing = hold.plan.standing(len(hold.rooms) + 1)
    name = hold.plan.group.name
    text = f"kept with {name}, which accepted it in part: {name} {standing.outcome}"
    return Verdict(HintCode.TIER_BLOCKED, text, (BlockedBy(name, *_facts(standing)),))


def _standing(plan: GroupPlan, gang_tasks: int) -> Standing:
    return plan.standing(gang_tasks // plan.group.workers_per_slice if gang_tasks else 1)


def _facts(standing: Standing) -> tuple[Outcome, float | None]:
    return standing.outcome, standing.until


def _listed(parts: Sequence[str]) -> str:
    """The first five and a count."""
    more = len(parts) - NAMED_GROUPS
    return ", ".join(parts[:NAMED_GROUPS]) + (f" and {more} more" if more > 0 else "")


def _shortages(plan: GroupPlan, shape: Shape) -> list[str]:
    need, empty = shape.need, plan.empty
    pairs = (
        ("cores", need.cpu / UNIT, empty.cpu / UNIT),
        ("bytes of memory", need.memory, empty.memory),
        ("bytes of disk", need.disk, empty.disk),
        ("devices", need.devices + need.share / UNIT, empty.devices),
    )
    return [f"has {have:g} {what} of the {want:g} needed" for what, want, have in pairs if want > have]


def requested_words(shape: Shape, index: GroupIndex) -> str:
    """`TPU-v5-8`, `GPU-h100`, `CPU`: the device, and the variants that the entry or its words name."""
    if shape.device_type is DeviceType.CPU:
        return "CPU"
    variants = shape.variants or index.variants_named(shape)
    return "-".join([shape.device_type.upper(), "/".join(variants)]).rstrip("-")
