"""Why a group that the planner calls PAUSED really stands still: its own pause, or the halt of the whole installation.

The planner's record says PAUSED for both; pages have a word for each, and one for a pause that has run out since.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db.models import Q, QuerySet

from iris_web.pages.lasting import blocked_by
from scaling.models import Group, GroupStatus, Installation

PAUSED, HALTED, PAUSE_OVER = "PAUSED", "HALTED", "PAUSE_OVER"
# Codes that pages show and the planner does not know.
SHOWN_ONLY = (HALTED, PAUSE_OVER)


def own_pause(now: datetime) -> Q:
    """Groups whose own pause is in force; as `scaling.operations.is_paused` says of one."""
    return Q(pause_since__isnull=False) & (Q(pause_until__isnull=True) | Q(pause_until__gt=now))


def is_halted() -> bool:
    """One query."""
    return Installation.objects.filter(halted_since__isnull=False).exists()


def halts_any(reasons: Iterable[str]) -> bool:
    """Whether a PAUSED in these reasons is the halt of everything. One query, asked only where one of them says it."""
    return any(PAUSED in reason for reason in reasons) and is_halted()


def shown(outcome: str, paused: bool, halted: bool) -> str:
    """The code that a page shows for the planner's outcome."""
    if outcome != PAUSED or paused:
        return outcome
    return HALTED if halted else PAUSE_OVER


class Standstill:
    """`shown` for many groups at once, by key. Two queries, asked only once one of them is PAUSED."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._known: tuple[frozenset[int], bool] | None = None

    def code(self, pk: int, outcome: str | None) -> str:
        if outcome != PAUSED:
            return outcome or ""
        if self._known is None:
            paused = Group.objects.filter(own_pause(self._now)).order_by().values_list("pk", flat=True)
            self._known = frozenset(paused), is_halted()
        paused_groups, halted = self._known
        return shown(outcome, pk in paused_groups, halted)


def with_code(groups: QuerySet[Group], code: str, now: datetime) -> QuerySet[Group]:
    """Those of the groups that show this code of a standstill or outcome, also behind one that ends before it."""
    if code not in (PAUSED, *SHOWN_ONLY):
        return groups.filter(status__in=GroupStatus.objects.filter(blocked_by(code, now)))
    stand = groups.filter(status__outcome=PAUSED)
    conditions: Mapping[str, Q] = {PAUSED: own_pause(now), HALTED: ~own_pause(now), PAUSE_OVER: ~own_pause(now)}
    if code in SHOWN_ONLY and is_halted() != (code == HALTED):
        return groups.none()
    return stand.filter(conditions[code])
