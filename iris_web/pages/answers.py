"""Why a job waits, in a headline, and what one can do: one row per hint code, filled in from what blocks it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from iris_web.pages import states
from iris_web.pages.halts import Standstill
from iris_web.pages.remedies import tier_wait
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
    """At most three queries, and none but for jobs that groups block."""
    if hint.blocked_by:
        return _blocked(hint, now)
    title, advice = ANSWERS.get(hint.code, (hint.code, ""))
    return Answer(title, advice)


def _blocked(hint: Hint, now: datetime) -> Answer:
    """Every group that could serve it is blocked or full: how many in which way."""
    outcomes: Mapping[str, str] = {str(item["group"]): str(item["outcome"]) for item in hint.blocked_by}
    rows = Group.objects.filter(name__in=list(outcomes)).order_by("priority", "name")
    known = list(rows.values_list("pk", "name", "allocation_tier", "quota_pool__name", "status__detail"))
    standstill = Standstill(now)
    keys = {name: pk for pk, name, *_ in known}
    counted = Counter(standstill.code(keys.get(name, 0), outcome) for name, outcome in outcomes.items())
    tiers = [
        (name, tier_wait(tier, pool, detail))
        for _pk, name, tier, pool, detail in known
        if outcomes[name] == "TIER_BLOCKED"
    ]
    told = [(states.look("group", code).word, number) for code, number in counted.most_common()]
    if len(outcomes) == 1:
        return Answer(f"The one group that fits it: {told[0][0]}", "What would open it stands below.", tuple(tiers))
    kinds = ", ".join(f"{number} {word}" for word, number in told)
    title = f"None of the {len(outcomes)} groups that fit it may grow: {kinds}"
    return Answer(title, "Opening any one of those below would help it.", tuple(tiers[:TIERS_TOLD]))
