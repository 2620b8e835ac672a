"""Which groups an entry's shape matches (AUTOSCALER section 3), as bit masks over all groups at once.

Bit i stands for the i-th group in the plan's order. Each requirement is evaluated once for all groups, however many
shapes name it; a shape costs a handful of ANDs.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scaling.autoscaler.constraints import Attribute, Constraint, Requirement, Word, attribute, labels
from scaling.autoscaler.packing import empty_worker, how_many, owns_workers
from scaling.autoscaler.scaling_group import ScalingGroup, plain
from scaling.autoscaler.shapes import Need, Shape
from scaling.autoscaler.words import CapacityType, DeviceType

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Matches:
    """The groups that are left after each kind of requirement; each is part of the one before."""

    devices_and_constraints: int
    coschedules: int
    holds_a_task: int
    tier_allows: int


class GroupIndex:
    """Masks over the groups given, whose order is that of the plan."""

    def __init__(self, groups: Sequence[ScalingGroup]) -> None:
        self.groups = groups
        self.all = (1 << len(groups)) - 1
        self._memory: dict[Hashable, int] = {}
        self._labels: dict[str, int] = {}
        self._values: dict[str, dict[Attribute | None, int]] = {}
        self._names = [f"-{plain(group.name)}-" for group in groups]
        self._types = {kind: self._mask(g.device_type is kind for g in groups) for kind in DeviceType}
        self._variants = {plain(group.device_variant) for group in groups}
        self._firm = self._mask(group.capacity_type is not CapacityType.PREEMPTIBLE for group in groups)
        for bit, group in enumerate(groups):
            for label in labels(group):
                self._labels[label] = self._labels.get(label, 0) | 1 << bit
        self._workers = self._by(lambda group: (owns_workers(group), empty_worker(group)))
        self._slice_sizes = self._by(lambda group: group.workers_per_slice)

    def matches(self, shape: Shape) -> Matches:
        found = self.device(shape)
        for requirement in shape.required:
            found &= self.where(requirement)
        coschedules = found & self.coschedules(shape.gang_tasks) if shape.gang_tasks else found
        holds = coschedules & self.holding(shape.need)
        return Matches(found, coschedules, holds, holds & self._firm if shape.needs_firm else holds)

    def device(self, shape: Shape) -> int:
        """An accelerator entry needs its type and one of its variants; a CPU entry stays off accelerators."""
        if shape.device_type is DeviceType.CPU:
            return self.all if shape.allow_accelerators else self._types[DeviceType.CPU]
        if not shape.variants:
            return self._types[shape.device_type]
        wanted = {plain(variant) for variant in shape.variants}
        return self._remembered(
            (shape.device_type, shape.variants),
            lambda: self._types[shape.device_type] & self._mask(plain(g.device_variant) in wanted for g in self.groups),
        )

    def where(self, requirement: Requirement) -> int:
        """The groups for which a constraint holds."""
        if isinstance(requirement, Word):
            return self._remembered(requirement, lambda: self._where_word(requirement.text))
        return self._remembered(requirement, lambda: self._where_constraint(requirement))

    def coschedules(self, tasks: int) -> int:
        """The groups whose workers_per_slice divides the gang."""
        return self._union(mask for size, mask in self._slice_sizes.items() if tasks % size == 0)

    def holding(self, need: Need) -> int:
        """The groups whose empty worker holds one task."""
        return self._remembered(
            need,
            lambda: self._union(mask for (_, empty), mask in self._workers.items() if how_many(empty, need)),
        )

    def preference(self, constraints: Sequence[Constraint], among: int) -> list[int]:
        """Masks of the groups that satisfy the most preferred constraints, the second most, and so on."""
        if not constraints:
            return [among]
        tiers = [among]
        for constraint in constraints:
            holds = self.where(constraint)
            tiers.append(0)
            for count in range(len(tiers) - 2, -1, -1):
                tiers[count + 1] |= tiers[count] & holds
                tiers[count] &= ~holds
        return [mask for mask in reversed(tiers) if mask]

    def variants_named(self, shape: Shape) -> tuple[str, ...]:
        """The device variants that the plain words of a shape name."""
        words = {item.text for item in shape.required if isinstance(item, Word)}
        return tuple(sorted(words & self._variants)) if words else ()

    def _where_word(self, text: str) -> int:
        part = f"-{text}-"
        return self._labels.get(text, 0) | self._mask(part in name for name in self._names)

    def _where_constraint(self, constraint: Constraint) -> int:
        """Each value that occurs is looked at once."""
        by_value = self._values.get(constraint.key)
        if by_value is None:
            by_value = self._values[constraint.key] = self._by(lambda group: attribute(group, constraint.key))
        return self._union(mask for value, mask in by_value.items() if constraint.accepts(value))

    def _remembered(self, key: Hashable, find: Callable[[], int]) -> int:
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = find()
        return found

    def _by(self, key_of: Callable[[ScalingGroup], Key]) -> dict[Key, int]:
        found: dict[Key, int] = {}
        for bit, group in enumerate(self.groups):
            key = key_of(group)
            found[key] = found.get(key, 0) | 1 << bit
        return found

    @staticmethod
    def _mask(holds: Iterable[bool]) -> int:
        text = "".join("1" if yes else "0" for yes in holds)
        return int(text[::-1], 2) if text else 0

    @staticmethod
    def _union(masks: Iterable[int]) -> int:
        found = 0
        for mask in masks:
            found |= mask
        return found


def bits(mask: int) -> list[int]:
    """The positions of the bits of a mask, lowest first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
