"""Pending hints: why a job is not fully placed (AUTOSCALER section 8), one per job, told from what the planner used."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import BlockedBy, HintCode, PendingHint, SliceState
from scaling.autoscaler.packing import Room, Stage
from scaling.autoscaler.rooms import Hold
from scaling.autoscaler.seeker import Placement, Routed, Seeker
from scaling.autoscaler.shapes import Shape
from scaling.autoscaler.verdicts import NAMED_GROUPS, Judge, Verdict, held_verdict
from scaling.autoscaler.words import DeviceType

LONGEST_MISMATCH = 199


class _Coming(NamedTuple):
    """What is on its way to an entry: its code (None when all it was given is READY), the words, the whole reason."""

    code: HintCode | None
    text: str
    reason: str


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
        self._judge = Judge(plans, index)
        self._labels: dict[int, tuple[str, int]] = {}
        self._coming: dict[tuple[object, ...], _Coming] = {}
        self._missing: dict[tuple[object, ...], Verdict] = {}

    def write(self, routed: Iterable[Routed]) -> tuple[PendingHint, ...]:
        """The hints of all entries that are not fully given room on READY slices, in their order."""
        hints = []
        for item in routed:
            code, reason, blocked_by = self._facts(item)
            if code is None:
                continue
            seeker, job_id = item[1], item[0][0]
            before = self.since.get(job_id) if self.since else None
            since = before[1] if before is not None and before[0] is code else self.now
            requested, available = (job_id, 0) if seeker is None else self._label(seeker)
            facts = (job_id, code, reason, blocked_by, since, requested, available)
            hints.append(tuple.__new__(PendingHint, facts))
        return tuple(hints)

    def _facts(self, item: Routed) -> tuple[HintCode | None, str, tuple[BlockedBy, ...]]:
        """Code, reason and what blocks, worked out once for entries that differ in nothing these depend on."""
        entry, seeker, placed, left = item
        if seeker is None:
            code = HintCode.INVALID_REQUEST
            return code, _told(code, entry.problem), ()
        arrivals = _arrival(placed[0][0]) if len(placed) == 1 else tuple([_arrival(room) for room, _ in placed])
        coming = self._coming.get(arrivals)
        if coming is None:
            coming = self._coming[arrivals] = self._describe(placed)
        if not left:
            return coming.code, coming.reason, ()
        hold = self.holds.get(entry.job_id) if seeker.shape.gang_tasks else None
        if hold is not None:
            return _reason(held_verdict(hold), item, coming.text)
        key = (id(seeker), entry.tasks, left, coming.text)
        found = self._missing.get(key)
        if found is None:
            found = self._missing[key] = _reason(self._judge.verdict(seeker), item, coming.text)
        return found

    def _describe(self, placed: Sequence[Placement]) -> _Coming:
        requested: Counter[str] = Counter()
        deferred: Counter[str] = Counter()
        booting: Counter[str] = Counter()
        for room, _ in placed:
            name = self.plans[room.group].group.name
            if room.stage is Stage.NEW:
                requested[name] += room.granted
                deferred[name] += room.slices - room.granted
            elif room.slice is not None and room.slice.state is SliceState.BOOTING:
                booting[name] += 1
            elif room.slice is not None and room.slice.state is SliceState.REQUESTING:
                requested[name] += 1
        parts = [
            *_each(requested, "requested in"),
            *_each(deferred, "deferred by a rate in"),
            *_each(booting, "booting in"),
        ]
        if not parts:
            return _Coming(None, "", "")
        waits = not (+requested or +deferred)
        code, text = HintCode.WAITING_FOR_WORKERS if waits else HintCode.SCALING_UP, ", ".join(parts)
        return _Coming(code, text, _told(code, text))

    def _label(self, seeker: Seeker) -> tuple[str, int]:
        """What was asked for, as logs show it, and how many groups match."""
        found = self._labels.get(id(seeker))
        if found is None:
            available = seeker.matches.tier_allows.bit_count()
            found = self._labels[id(seeker)] = (requested_words(seeker.shape, self.index), available)
        return found


def _arrival(room: Room) -> tuple[object, ...]:
    """What the words for a placement depend on."""
    state = room.slice.state if room.slice is not None else None
    return (room.group, room.stage, state, room.slices, room.granted)


def _each(counts: Counter[str], where: str) -> list[str]:
    found = [f"{count} slice{'' if count == 1 else 's'} {where} {name}" for name, count in counts.items() if count]
    return found if len(found) <= NAMED_GROUPS else [*found[:NAMED_GROUPS], f"and in {len(found) - NAMED_GROUPS} more"]


def _told(code: HintCode, text: str) -> str:
    """Every reason starts with its code."""
    return f"{code}: {text}"


def _reason(verdict: Verdict, item: Routed, coming: str) -> Verdict:
    """The verdict in the words for a job: of one partly placed also how much is missing, and what is coming."""
    tasks = item.entry.tasks
    missing = f"{item.left} of {tasks} tasks: " if item.left < tasks else ""
    text = _told(verdict.code, f"{missing}{verdict.text}{f'; {coming}' if coming else ''}")
    if verdict.code is HintCode.NO_MATCHING_GROUP:
        text = text[:LONGEST_MISMATCH]
    return verdict._replace(text=text)


def requested_words(shape: Shape, index: GroupIndex) -> str:
    """`TPU-v5-8`, `GPU-h100`, `CPU`: the device, and the variants that the entry or its words name."""
    if shape.device_type is DeviceType.CPU:
        return "CPU"
    variants = shape.variants or index.variants_named(shape)
    return "-".join([shape.device_type.upper(), "/".join(variants)]).rstrip("-")
