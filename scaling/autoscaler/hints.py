"""Pending hints: why a job is not fully placed (AUTOSCALER section 8), one per job, told from what the planner used."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import HintCode, PendingHint, SliceState
from scaling.autoscaler.room import Stage
from scaling.autoscaler.rooms import Hold
from scaling.autoscaler.seeker import Placement, Routed, Told
from scaling.autoscaler.shapes import Shape
from scaling.autoscaler.verdicts import NAMED_GROUPS, Judge, Verdict, held_verdict
from scaling.autoscaler.words import DeviceType

LONGEST_MISMATCH = 199
# Half the price of PendingHint(...), paid once per job.
_new = tuple.__new__


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
        self._coming: dict[tuple[object, ...], _Coming] = {}

    def write(self, routed: Iterable[Routed]) -> tuple[PendingHint, ...]:
        """The hints of all entries that are not fully given room on READY slices, in their order."""
        hints = []
        now, since_before = self.now, self.since
        for item in routed:
            entry, seeker, placed, left = item
            told = None
            if len(placed) == 1 and not left and seeker is not None:
                room, tasks, first = placed[0]
                if room.stage is Stage.READY:
                    continue
                if room.run and tasks == 1:
                    # By far the most frequent: told by the group and by whether a rate lets the slice be bought.
                    told = seeker.told.get(room.group + 1 if first < room.granted else -1 - room.group)
            if told is None:
                told = self._tell(item)
                if told is None:
                    continue
            code, reason, blocked_by, requested, available = told
            job_id, since = entry[0], now
            if since_before:
                before = since_before.get(job_id)
                since = before[1] if before is not None and before[0] is code else now
            hints.append(_new(PendingHint, (job_id, code, reason, blocked_by, since, requested, available)))
        return tuple(hints)

    def _tell(self, item: Routed) -> Told | None:
        """What there is to tell of an entry, worked out once for all that differ in nothing it depends on."""
        entry, seeker, placed, left = item
        if seeker is None or (left and entry[0] in self.holds):
            return self._work_out(item)
        key: object = 0
        if len(placed) == 1 and not left:
            key = _key(placed[0])
        elif placed or left != 1:
            key = (entry[3][1], left, *map(_arrival, placed))
        if key not in seeker.told:
            seeker.told[key] = self._work_out(item)
        return seeker.told[key]

    def _work_out(self, item: Routed) -> Told | None:
        entry, seeker, placed, left = item
        if seeker is None:
            code = HintCode.INVALID_REQUEST
            return Told(code, _told(code, entry.problem), (), entry.job_id, 0)
        arrivals = tuple(map(_arrival, placed))
        coming = self._coming.get(arrivals)
        if coming is None:
            coming = self._coming[arrivals] = self._describe(placed)
        requested, available = requested_words(seeker.shape, self.index), seeker.matches.tier_allows.bit_count()
        if left:
            hold = self.holds.get(entry.job_id) if seeker.shape.gang_tasks else None
            verdict = self._judge.verdict(seeker) if hold is None else held_verdict(hold)
            code, reason, blocked_by = _reason(verdict, item, coming.text)
            return Told(code, reason, blocked_by, requested, available)
        return None if coming.code is None else Told(coming.code, coming.reason, (), requested, available)

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
            return _Coming(None, "", "")
        waits = not (+requested or +deferred)
        code, text = HintCode.WAITING_FOR_WORKERS if waits else HintCode.SCALING_UP, ", ".join(parts)
        return _Coming(code, text, _told(code, text))


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
