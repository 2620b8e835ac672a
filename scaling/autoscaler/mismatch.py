"""Why no group matches: the first requirement that leaves none, and the nearest existing name for a typo.

The order is that of AUTOSCALER section 8: device, capacity type, zone, region, other attributes.
"""

import difflib
from collections import Counter, defaultdict
from collections.abc import Sequence

from scaling.autoscaler.constraints import Constraint, Operator, Requirement, Word, attribute, field_key
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.scaling_group import FIELD_NAMES, plain
from scaling.autoscaler.shapes import Shape
from scaling.autoscaler.words import CapacityType, DeviceType

KINDS = ("device", "capacity type", "zone", "region", "attribute")
_KIND_OF_KEY = {
    "device_type": "device",
    "device_variant": "device",
    "devices_per_worker": "device",
    "capacity_type": "capacity type",
    "zone": "zone",
    "region": "region",
}
# These words mean what they say also where no group has them.
_KIND_OF_WORD = {
    **{plain(word): "device" for word in DeviceType},
    **{plain(word): "capacity type" for word in CapacityType},
}
# Where a value that exists was meant; whoever excludes or compares one has named it.
_ONE_OF = frozenset({Operator.EQ, Operator.IN})
_SHOWN = 48
_CANDIDATES = 12


class NameBook:
    """The names that groups go by, each with the kind of thing it names; made once, when a typo is met."""

    def __init__(self, index: GroupIndex) -> None:
        self.kinds: dict[str, str] = {}
        for group in index.groups:
            self._add("attribute", group.name, *group.attributes.values())
            self._add("region", group.region)
            self._add("zone", group.zone)
            self._add("capacity type", group.capacity_type)
            self._add("device", group.device_type, group.device_variant)
        self._by_trigram: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.kinds):
            for trigram in _trigrams(name):
                self._by_trigram[trigram].append(name)
        self._nearest: dict[str, str] = {}

    def _add(self, kind: str, *names: str) -> None:
        """A name of several kinds counts as the one that is asked for first."""
        self.kinds.update((plain(name), kind) for name in names if name)

    def nearest(self, word: str) -> str:
        """The existing name most like the word, "" when none is; only names that share a trigram are compared."""
        if word not in self._nearest:
            shared = Counter(name for trigram in _trigrams(word) for name in self._by_trigram.get(trigram, ()))
            likely = sorted(shared, key=lambda name: (-shared[name], name))[:_CANDIDATES]
            found = difflib.get_close_matches(word, likely, n=1, cutoff=0.6)
            self._nearest[word] = found[0] if found else ""
        return self._nearest[word]


def _trigrams(word: str) -> set[str]:
    padded = f" {word} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def explain_mismatch(shape: Shape, index: GroupIndex, names: NameBook) -> str:
    """Which requirement no group meets, in under 190 characters."""
    left = index.device(shape)
    if not left:
        return _no_device(shape, index, names)
    ordered = sorted(shape.required, key=lambda item: KINDS.index(_kind(item, names)))
    for requirement in ordered:
        remaining = left & index.where(requirement)
        if not remaining:
            return _not_met(requirement, ordered, index, names)
        left = remaining
    return "no group meets all requirements"


def _kind(requirement: Requirement, names: NameBook) -> str:
    if isinstance(requirement, Constraint):
        return _KIND_OF_KEY.get(requirement.key, "attribute")
    text = requirement.text
    known = _KIND_OF_WORD.get(text) or names.kinds.get(text) or names.kinds.get(names.nearest(text))
    if known is None:
        meant = difflib.get_close_matches(text, _KIND_OF_WORD, n=1, cutoff=0.8)
        known = _KIND_OF_WORD[meant[0]] if meant else "attribute"
    return known


def _no_device(shape: Shape, index: GroupIndex, names: NameBook) -> str:
    kind = shape.device_type
    if kind is DeviceType.CPU:
        return "device: there is no cpu group, and the job does not set allow_accelerators"
    wanted = f"{kind} {'/'.join(shape.variants)}"[:_SHOWN].rstrip()
    there = sorted({group.device_variant for group in index.groups if group.device_type is kind})
    if not there:
        return f"device: no group has {wanted}, none has a {kind} at all"
    near = [names.nearest(plain(variant)) for variant in shape.variants]
    known = next((name for name in near if name in there), there[0])
    return f"device: no group has {wanted}, the nearest is {known[:_SHOWN]}"


def _not_met(requirement: Requirement, others: Sequence[Requirement], index: GroupIndex, names: NameBook) -> str:
    kind = _kind(requirement, names)
    shown = str(requirement)[:_SHOWN]
    if have := index.where(requirement):
        rival = next((str(item)[:_SHOWN] for item in others if not have & index.where(item)), "")
        if rival:
            return f"{kind}: no group has both {rival} and {shown}"
        return f"{kind}: no group that meets the rest has {shown}"
    near = _suggestion(requirement, index, names)
    return f"{kind}: no group has {shown}" + (f", the nearest is {near[:_SHOWN]}" if near else "")


def _suggestion(requirement: Requirement, index: GroupIndex, names: NameBook) -> str:
    if isinstance(requirement, Word):
        return names.nearest(requirement.text)
    there = {attribute(group, requirement.key) for group in index.groups}
    if there == {None}:
        return _nearest_key(requirement.key, index)
    if requirement.operator not in _ONE_OF:
        return ""
    texts = sorted({plain(str(value)) for value in there if isinstance(value, str)})
    for value in requirement.values:
        found = difflib.get_close_matches(value, texts[:200], n=1, cutoff=0.6)
        if found:
            return found[0]
    return ""


def _nearest_key(key: str, index: GroupIndex) -> str:
    """Of a key that no group has: the one that was meant, "" where none is near, or the key itself is a field's."""
    known = {field_key(name) for group in index.groups for name in group.attributes} | set(FIELD_NAMES)
    return "" if key in known else next(iter(difflib.get_close_matches(key, sorted(known), n=1, cutoff=0.6)), "")
