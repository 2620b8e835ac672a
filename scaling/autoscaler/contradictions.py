"""Required constraints on one key that no value can meet together: a job with them cannot be meant.

Preferred ones only sort, so they may differ. Plain words name no key, and a group may have several in its name: of two
that no group has both nothing is said before the groups are known (`mismatch`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from scaling.autoscaler.constraints import Constraint, InvalidRequestError, Operator, Requirement, as_number

_LISTS = frozenset({Operator.EQ, Operator.IN})
_LOWER = frozenset({Operator.GT, Operator.GE})
_UPPER = frozenset({Operator.LT, Operator.LE})
_SHOWN = 60


def refuse_contradictions(found: Iterable[Requirement]) -> None:
    """Raise InvalidRequestError where two constraints exclude each other, or all of a key leave no value."""
    by_key: defaultdict[str, list[Constraint]] = defaultdict(list)
    for item in found:
        if isinstance(item, Constraint) and not item.preferred:
            by_key[item.key].append(item)
    for asked in by_key.values():
        for one, other in combinations(asked, 2):
            if _exclude(one, other):
                raise InvalidRequestError(_both(one, other))
        if not _leave_a_value(asked):
            raise InvalidRequestError(f"constraints: no {asked[0].key:.40} meets all that is asked of it")


def _exclude(one: Constraint, other: Constraint) -> bool:
    if one.operator in _LISTS:
        return not any(_meets(other, value) for value in one.values)
    if other.operator in _LISTS:
        return _exclude(other, one)
    if Operator.NOT_EXISTS in (one.operator, other.operator):
        return one.operator is not other.operator
    return _leave_a_gap(one, other) or _leave_a_gap(other, one)


def _meets(asked: Constraint, value: str) -> bool:
    """Whether the key may have this value; `8` and `8.0` are one number where the key is one."""
    if asked.operator in _LISTS:
        number = as_number(value)
        return any(value == each or (number is not None and number == as_number(each)) for each in asked.values)
    return asked.accepts(value)


def _leave_a_gap(lower: Constraint, upper: Constraint) -> bool:
    """Whether what must be above one number would have to be below a smaller one."""
    if lower.operator not in _LOWER or upper.operator not in _UPPER:
        return False
    least, most = as_number(lower.values[0]), as_number(upper.values[0])
    if least is None or most is None:
        return False
    edges_count = lower.operator is Operator.GE and upper.operator is Operator.LE
    return least > most or (least == most and not edges_count)


def _leave_a_value(asked: Sequence[Constraint]) -> bool:
    listed = next((item for item in asked if item.operator in _LISTS), None)
    return listed is None or any(all(_meets(item, value) for item in asked) for value in listed.values)


def _both(one: Constraint, other: Constraint) -> str:
    values = (one.values + other.values) if {one.operator, other.operator} <= _LISTS else ()
    if len(values) == 2:
        return f"constraints: {one.key:.40} cannot be {values[0]!r:.40} and {values[1]!r:.40}"
    return f"constraints: {str(one)[:_SHOWN]} and {str(other)[:_SHOWN]} exclude each other"
