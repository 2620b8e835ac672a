"""The filter chain of one group as its page tells it: every check with its verdict, and what each looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from iris_web.pages import states, words
from scaling import clock
from scaling.models import Group, GroupStatus
from scaling.operations import is_paused
from scaling.pool_room import limit_of


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One verdict of the filter chain; `verdict` is a word of the CHECK looks."""

    outcome: str
    meaning: str
    verdict: str
    detail: str
    until: datetime | None


def with_orders(checks: Sequence[Mapping[str, Any]], group: Group) -> list[Mapping[str, Any]]:
    """The checks of the last cycle with an operator's orders as they are now: those the next cycle judges the same.

    A pause that was there and is no more stays: it may be the halt of everything, see `halts`.
    """
    paused = is_paused(group, clock.now())
    orders = {
        "DRAINING": (group.drain_since is not None, group.drain_by, group.drain_deadline, "draining, ordered by"),
        "PAUSED": (paused, group.pause_by, group.pause_until, "paused by"),
    }
    return [_ordered(check, *orders[code]) if (code := check["outcome"]) in orders else check for check in checks]


def _ordered(check: Mapping[str, Any], ordered: bool, by: str, until: datetime | None, words: str) -> Mapping[str, Any]:
    blocked = bool(check.get("blocked"))
    if ordered == blocked or (blocked and check["outcome"] == "PAUSED"):
        return check
    detail = f"{words} {by or 'an operator'}" if ordered else ""
    end = until.isoformat() if ordered and until else None
    return {**check, "blocked": ordered, "detail": detail, "until": end}


def outcome_of(checks: Sequence[Mapping[str, Any]], stored: str) -> str:
    """The first check that blocks; what is `stored` where a record has no checks."""
    return next((str(check["outcome"]) for check in checks if check.get("blocked")), "AVAILABLE") if checks else stored


def check_rows(status: GroupStatus | None, checks: Sequence[Mapping[str, Any]] | None = None) -> list[CheckRow]:
    """In the planner's order. No query where the group of `status` was read with its pool.

    `checks` are those to show instead of the stored ones.
    """
    rows, first = [], True
    for check in checks if checks is not None else status.checks if status else ():
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
