"""Why the tasks of a shape found no room: the code of the groups that got furthest (AUTOSCALER section 8)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scaling.autoscaler.group_plan import GroupPlan, Standing
from scaling.autoscaler.matching import GroupIndex, bits
from scaling.autoscaler.mismatch import NameBook, explain_mismatch
from scaling.autoscaler.models import BlockedBy, HintCode, Outcome
from scaling.autoscaler.quantities import plain_number, size_words
from scaling.autoscaler.rooms import Hold
from scaling.autoscaler.seeker import Seeker
from scaling.autoscaler.shapes import UNIT, Shape
from scaling.counting import counted

NAMED_GROUPS = 5


class Verdict(NamedTuple):
    """A code, the words for it, and the groups that might serve and cannot."""

    code: HintCode
    text: str
    blocked_by: tuple[BlockedBy, ...] = ()


class Judge:
    """Judges each shape once, after the plan is made."""

    def __init__(self, plans: Sequence[GroupPlan], index: GroupIndex) -> None:
        self.plans = plans
        self.index = index
        self._names: NameBook | None = None
        self._verdicts: dict[int, Verdict] = {}
        self._without_slices = sum(1 << plan.index for plan in plans if not plan.most_slices())

    def verdict(self, seeker: Seeker) -> Verdict:
        found = self._verdicts.get(id(seeker))
        if found is None:
            found = self._verdicts[id(seeker)] = self._judge(seeker)
        return found

    def _judge(self, seeker: Seeker) -> Verdict:
        """From the groups that got furthest to those that do not even match.

        Where some group could ever hold the entry, all that match are named, also those that never can.
        """
        matches, shape = seeker.matches, seeker.shape
        large_enough = self._large_enough(matches.holds_a_task, shape.gang_tasks)
        if large_enough and matches.tier_allows:
            return self._blocked(matches.tier_allows, shape.gang_tasks)
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
        return Verdict(HintCode.NO_MATCHING_GROUP, explain_mismatch(shape, self.index, self._names))

    def _among(self, mask: int) -> list[GroupPlan]:
        return [self.plans[bit] for bit in bits(mask)]

    def _large_enough(self, mask: int, gang_tasks: int) -> int:
        """The groups whose max holds the gang, or a single slice."""
        if not gang_tasks:
            return mask & ~self._without_slices
        small = 0
        for plan in self._among(mask):
            if gang_tasks // plan.group.workers_per_slice > plan.most_slices():
                small |= 1 << plan.index
        return mask & ~small

    def _blocked(self, mask: int, gang_tasks: int) -> Verdict:
        found = [(plan.group.name, _standing(plan, gang_tasks)) for plan in self._among(mask)]
        if any(standing.outcome is Outcome.AVAILABLE for _, standing in found):
            return Verdict(HintCode.SCALING_UP, "one slice per group and cycle while READY room stays unused")
        return Verdict(
            HintCode.TIER_BLOCKED,
            _listed([f"{name} {standing.outcome}" for name, standing in found]),
            tuple(BlockedBy(name, standing.outcome, standing.until) for name, standing in found),
        )

    def _too_small(self, mask: int, gang_tasks: int) -> str:
        if not gang_tasks:
            names = [plan.group.name for plan in self._among(mask)]
            return f"no slice is allowed (max_slices 0) in {_listed(names)}"
        parts = [
            f"{plan.group.name} needs {counted(gang_tasks // plan.group.workers_per_slice, 'slice')}, has at most "
            f"{plan.most_slices()}"
            for plan in self._among(mask)
        ]
        return f"no group's max holds the gang of {counted(gang_tasks, 'task')}: {_listed(parts)}"

    def _too_weak(self, mask: int, shape: Shape) -> str:
        parts = [f"{plan.group.name} {_shortage(plan, shape)}" for plan in self._among(mask)]
        return f"no empty worker holds one task: {_listed(parts)}"

    def _no_multiple(self, mask: int, shape: Shape) -> str:
        parts = [f"{plan.group.name} has {plan.group.workers_per_slice}" for plan in self._among(mask)]
        are = "is" if shape.gang_tasks == 1 else "are"
        tasks = counted(shape.gang_tasks, "task")
        return f"{tasks} {are} no multiple of the workers per slice: {_listed(parts)}"


def held_verdict(hold: Hold, tasks_left: int) -> Verdict:
    """A gang accepted in part whose rest cannot be asked for now."""
    plan = hold.plan
    standing = plan.standing(max(tasks_left // plan.workers, 1))
    name = plan.group.name
    text = f"kept with {name}, which accepted it in part: {name} {standing.outcome}"
    return Verdict(HintCode.TIER_BLOCKED, text, (BlockedBy(name, standing.outcome, standing.until),))


def _standing(plan: GroupPlan, gang_tasks: int) -> Standing:
    return plan.standing(gang_tasks // plan.group.workers_per_slice if gang_tasks else 1)


def _listed(parts: Sequence[str]) -> str:
    """The first five and a count."""
    more = len(parts) - NAMED_GROUPS
    return ", ".join(parts[:NAMED_GROUPS]) + (f" and {more} more" if more > 0 else "")


def _shortage(plan: GroupPlan, shape: Shape) -> str:
    """What an empty worker lacks for one task."""
    need = shape.need
    cpu, memory, disk, devices, _ = plan.empty
    pairs: tuple[tuple[str, float, float, Callable[[float], str]], ...] = (
        ("cores", need.cpu / UNIT, cpu / UNIT, plain_number),
        ("memory", need.memory, memory, size_words),
        ("disk", need.disk, disk, size_words),
        ("devices", need.devices + need.share / UNIT, devices, plain_number),
    )
    return next(f"has {say(have)} {what} of the {say(want)} needed" for what, want, have, say in pairs if want > have)
