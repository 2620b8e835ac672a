"""Why a job waits, in a headline, and what one can do: one row per hint code, filled in from what blocks it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from iris_web.pages import states
from iris_web.pages.halts import Standstill
from iris_web.pages.lasting import Behind, behind_of
from iris_web.pages.openings import sharers
from iris_web.pages.tiers import open_marks, shutting, tier_wait
from scaling.models import Group, Hint

# Groups of which it is said which tier they wait for.
TIERS_TOLD = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """`title` says what holds the job up, `advice` what to do about it; `tiers`, by group, which waits for which."""

    title: str
    advice: str
    tiers: tuple[tuple[str, str], ...] = ()


# (headline, advice) by hint code; that of `tier_blocked` is for where the hint names no group.
ANSWERS: dict[str, tuple[str, str]] = {
    "scaling_up": ("Slices for it are on their way", "Nothing to do: they were asked for."),
    "waiting_for_workers": ("Its slices are booting", "Nothing to do: its tasks start when they are ready."),
    "tier_blocked": (
        "Only preemptible groups match, and it is a production job",
        "Let it say allow_preemptible, or add a group that is not preemptible.",
    ),
    "insufficient_resources": (
        "It is larger than any group can hold",
        "Ask for less per task or fewer tasks at once, or add a group with larger workers.",
    ),
    "coschedule_mismatch": (
        "Its tasks do not fill whole slices",
        "Change the number of tasks to a multiple of a group's workers per slice.",
    ),
    "no_matching_group": (
        "No group meets what it asks for",
        "Change the requirement it names, or add a group that meets it.",
    ),
    "invalid_request": ("The request cannot be meant", "Mend the request and send it again."),
}


def answer(hint: Hint, now: datetime) -> Answer:
    """At most six queries, and none but for jobs that groups block."""
    if hint.blocked_by:
        return _blocked(hint, now)
    title, advice = ANSWERS.get(hint.code, (hint.code, ""))
    return Answer(title, advice)


def _blocked(hint: Hint, now: datetime) -> Answer:
    """Every group that could serve it is blocked or full: how many in which way, and what lasts longer than that."""
    outcomes: Mapping[str, str] = {str(item["group"]): str(item["outcome"]) for item in hint.blocked_by}
    rows = Group.objects.filter(name__in=list(outcomes)).order_by("priority", "name")
    known = list(
        rows.values_list("pk", "name", "allocation_tier", "quota_pool_id", "quota_pool__name", "status__detail")
    )
    standstill, more = Standstill(now), behind_of(outcomes, now)
    keys = {name: pk for pk, name, *_ in known}
    counted = Counter(
        (standstill.code(keys.get(name, 0), outcome), _words(more[name][1]) if _is_of(more, name, outcome) else "")
        for name, outcome in outcomes.items()
    )
    closed = [_Closed(*row[1:]) for row in known if outcomes[row[1]] == "TIER_BLOCKED"][:TIERS_TOLD]
    tiers = _tiers(closed, now) if closed else ()
    told = [(states.look("group", code).word, behind, number) for (code, behind), number in counted.most_common()]
    if len(outcomes) == 1:
        word, behind, _ = told[0]
        title = f"The one group that fits it: {word}{', ' if behind else ''}{behind}"
        return Answer(title, "What would open it stands below.", tiers)
    kinds = ", ".join(f"{number} {word}{f' ({behind})' if behind else ''}" for word, behind, number in told)
    title = f"None of the {len(outcomes)} groups that fit it may grow: {kinds}"
    return Answer(title, "Opening any one of those below would help it.", tiers)


def _is_of(more: Mapping[str, tuple[str, Behind]], name: str, outcome: str) -> bool:
    return name in more and more[name][0] == outcome


def _words(behind: Behind) -> str:
    """`then stockout`: groups that differ in the times alone are told as one."""
    return f"{behind.joint} {', '.join(states.look('group', block.code).word for block in behind.blocks)}"


class _Closed(NamedTuple):
    """A group whose tier is closed."""

    name: str
    tier: int | None
    pool_id: int | None
    pool: str | None
    detail: str | None


def _tiers(closed: Sequence[_Closed], now: datetime) -> tuple[tuple[str, str], ...]:
    """What closes the tier of each. Two queries."""
    around, marks = sharers(one.pool_id for one in closed), open_marks()
    return tuple(
        (one.name, tier_wait(one.tier, one.pool, one.detail, one.name,
                             shutting(one.name, one.tier, around, marks, now)))
        for one in closed
    )  # fmt: skip
