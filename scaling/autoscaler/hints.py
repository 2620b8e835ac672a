"""Pending hints: why a job is not fully placed (AUTOSCALER section 8), one per job, told from what the planner used."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import BlockedBy, HintCode, PendingHint, SliceState
from scaling.autoscaler.room import Stage
from scaling.autoscaler.rooms import Hold
from scaling.autoscaler.seeker import Placement, Routed, Seeker
from scaling.autoscaler.shapes import Shape
from scaling.autoscaler.verdicts import NAMED_GROUPS, Judge, Verdict, held_verdict
from scaling.autoscaler.words import DeviceType

LONGEST_MISMATCH = 199
# Half the price of PendingHint(...), paid once per job.
_new = tuple.__new__


class _Coming(NamedTuple):
    """What is on its way to an entry: its code (None when all it was given is READY), the reason, and it in words."""

    code: HintCode | None
    reason: str
    blocked_by: tuple[BlockedBy, ...]
    text: str


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
        self._coming: dict[object, _Coming] = {}
        self._missing: dict[tuple[object, ...], Verdict] = {}

    def write(self, routed: Iterable[Routed]) -> tuple[PendingHint, ...]:
        """The hints of all entries that are not fully given room on READY slices, in their order."""
        hints = []
        now, since_before, known = self.now, self.since, self._coming
        for item in routed:
            entry, seeker, placed, left = item
            told: _Coming | None = None
            if len(placed) == 1 and not left:
                room, tasks, first = placed[0]
                if room.stage is Stage.READY:
                    continue
                if room.run and tasks == 1:
                    # By far the most frequent: told by the group and by whether a rate lets the slice be bought.
                    told = known.get(room.group + 1 if first < room.granted else -1 - room.group)
            code, reason, blocked_by = told[:3] if told is not None else self._tell(item)
            if code is None:
                continue
            job_id, since = entry[0], now
            if since_before:
                before = since_before.get(job_id)
                since = before[1] if before is not None and before[0] is code else now
            requested, available = (job_id, 0) if seeker is None else seeker.label or self._label(seeker)
            hints.append(_new(PendingHint, (job_id, code, reason, blocked_by, since, requested, available)))
        return tuple(hints)

    def _tell(self, item: Routed) -> tuple[HintCode | None, str, tuple[BlockedBy, ...]]:
        """Code, reason and what blocks, worked out once for all entries that differ in nothing these depend on."""
        entry, seeker, placed, left = item
        if seeker is None:
            code = HintCode.INVALID_REQUEST
            return code, _told(code, entry.problem), ()
        key = _key(placed[0]) if len(placed) == 1 else tuple(map(_arrival, placed))
        coming = self._coming.get(key)
        if coming is None:
            coming = self._coming[key] = self._describe(placed)
        if not left:
            return coming.code, coming.reason, ()
        if seeker.shape.gang_tasks and entry.job_id in self.holds:
            return _reason(held_verdict(self.holds[entry.job_id], left), item, coming.text)
        facts = (id(seeker), entry.tasks, left, coming.text)
        found = self._missing.get(facts)
        if found is None:
            found = self._missing[facts] = _reason(self._judge.verdict(seeker), item, coming.text)
        return found

    def _label(self, seeker: Seeker) -> tuple[str, int]:
        """What was asked for, as logs show it, and how many groups match."""
        available = seeker.matches.tier_allows.bit_count()
        seeker.label = found = (requested_words(seeker.shape, self.index), available)
        return found

    def _describe(self, placed: Sequence[Placement]) -> _Coming:
        requested: Counter[str] = Counter()
        deferred: Counter[str] = Counter()
        booting: Counter[str] = Counter()
        for place in placed:
            room = place[0]
            name = self.plans[room.group].group.name
            if room.stage is Stage.NEW:
                slices, granted = _planned(place)
                requested[name] += granted
                deferred[name] += slices - granted
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
            return _Coming(None, "", (), "")
        waits = not (+requested or +deferred)
        code, text = HintCode.WAITING_FOR_WORKERS if waits else HintCode.SCALING_UP, ", ".join(parts)
        return _Coming(code, _told(code, text), (), text)


def _key(place: Placement) -> object:
    """As `_arrival`, and a plain number where it can be."""
    room, tasks, first = place
    if room.stage is Stage.NEW and (tasks if room.run else room.slices) == 1:
        return room.group + 1 if first < room.granted else -1 - room.group
    return _arrival(place)


def _arrival(place: Placement) -> tuple[object, ...]:
    """What the words for a placement depend on."""
    room = place[0]
    if room.slice is not None:
        return (room.group, room.slice.state)
    return (room.group, *_planned(place))


def _planned(place: Placement) -> tuple[int, int]:
    """How many planned slices a placement is on, and how many of them the rates allow now."""
    room, tasks, first = place
    if not room.run:
        return room.slices, room.granted
    return tasks, min(max(room.granted - first, 0), tasks)


def _each(counts: Counter[str], where: str) -> list[str]:
    found = [f"{count} slice{'' if count == 1 else 's'} {where} {name}" for name, count in counts.items() if count]
    return found if len(found) <= NAMED_GROUPS else [*found[:NAMED_GROUPS], f"and in {len(found) - NAMED_GROUPS} more"]


def _told(code: HintCode, text: str) -> str:
    """Every reason starts with its code."""
    return f"{code}: {text}"


def _reason(verdict: Verdict, item: Routed, coming: str) -> Verdict:
    """The verdict in the words for a job: of one partly placed also how much is missing, and what is coming."""
    entry, _, _, left = item
    missing = f"{left} of {entry.tasks} tasks: " if left < entry.tasks else ""
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
