"""The filter chain of one group as its page tells it: every check with its verdict, and what each looked at."""

from dataclasses import dataclass
from datetime import datetime

from iris_web.pages import states, words
from scaling.models import GroupStatus
from scaling.pool_room import limit_of


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One verdict of the filter chain; `verdict` is a word of the CHECK looks."""

    outcome: str
    meaning: str
    verdict: str
    detail: str
    until: datetime | None


def check_rows(status: GroupStatus | None) -> list[CheckRow]:
    """In the planner's order. No query where the group of `status` was read with its pool."""
    rows, first = [], True
    for check in status.checks if status else ():
        blocked = bool(check.get("blocked"))
        verdict = "passed" if not blocked else "first" if first else "also"
        first = first and not blocked
        code = check["outcome"]
        meaning = _passed(code, status) if verdict == "passed" else states.look("group", code).meaning
        rows.append(CheckRow(code, meaning, verdict, check.get("detail", ""), words.moment(check.get("until"))))
    return rows


def _passed(code: str, status: GroupStatus | None) -> str:
    """What a check says that passes; where there is nothing that it could look at, that."""
    group = status.group if status else None
    if group is not None and code in ("QUOTA_EXCEEDED", "TIER_BLOCKED"):
        if group.quota_pool is None:
            return "it has no pool"
        if code == "QUOTA_EXCEEDED" and limit_of(group.quota_pool) is None:
            return "its pool has no limit"
        if code == "TIER_BLOCKED" and group.allocation_tier is None:
            return "it has no tier in its pool"
    return states.PASSED.get(code, "")
