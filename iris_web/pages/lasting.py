"""What blocks a group beyond its outcome: the planner names the first check that fails, a later one may last longer.

The order of the checks is fixed (AUTOSCALER section 4) and says nothing about time: behind a back-off of seconds may
stand a stock-out of a quarter of an hour. Who reads the outcome alone would wait for the wrong end.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from iris_web.live.times import duration_text
from iris_web.pages import states, words
from iris_web.pages.tiers import is_own_tier
from scaling.models import GroupStatus

# Of so many groups at once the whole chains are shown.
CHAINS_READ = 40
# Of so many it is told what lasts on: all that a page of hints names. Of more it is told of none, since people count.
CHAINS_COUNTED = 500
# Where a record has the end of a check that stands behind another one, by outcome.
ENDS = {"STOCKOUT": "stockout_until", "BACKOFF": "backoff_expires_at"}


class Block(NamedTuple):
    """A check that blocks; `until` is None where no end is known."""

    code: str
    detail: str = ""
    until: datetime | None = None

    def told(self, now: datetime) -> str:
        """`stockout for 13 min`: the word of the state, and how long it lasts yet."""
        word = states.look("group", self.code).word
        return f"{word} for {duration_text((self.until - now).total_seconds())}" if self.until else word


class Behind(NamedTuple):
    """What lasts on when the outcome's own check is over, the longest last. `joint` leads from that to these."""

    joint: str = ""
    blocks: tuple[Block, ...] = ()

    def told(self, now: datetime) -> str:
        """`then stockout for 13 min`, "" for nothing."""
        return f"{self.joint} {', '.join(block.told(now) for block in self.blocks)}" if self.blocks else ""


def blocks_of(checks: Iterable[Mapping[str, Any]] | None) -> list[Block]:
    """The checks of a stored chain that block, in its order."""
    return [
        Block(str(check["outcome"]), str(check.get("detail", "")), words.moment(check.get("until")))
        for check in checks or ()
        if check.get("blocked")
    ]


def behind(blocks: Sequence[Block], tier: int | None, now: datetime) -> Behind:
    """What outlasts the first of these. A tier that the group closes by its own failure is that failure once more.

    Where the first has no known end, what has one is told beside it: it blocks as well.
    """
    if not blocks:
        return Behind()
    first, codes = blocks[0], [block.code for block in blocks]
    rest = [
        block
        for block in blocks[1:]
        if not (block.code == "TIER_BLOCKED" and is_own_tier(block.detail, tier, codes))
        and (block.until is None or block.until > now)
    ]
    if first.until is None:
        found = [block for block in rest if block.until is not None]
    else:
        found = [block for block in rest if block.until is None or block.until > first.until]
    found.sort(key=lambda block: (block.until is None, block.until or now))
    return Behind("and" if first.until is None else "then", tuple(found))


def behind_of(names: Iterable[str], now: datetime) -> dict[str, tuple[str, Behind]]:
    """(outcome, what outlasts it) of these groups, where there is such; of none where they are more than
    CHAINS_COUNTED. One query at most.
    """
    wanted = set(names)
    if len(wanted) > CHAINS_COUNTED:
        return {}
    rows = GroupStatus.objects.filter(group__name__in=wanted)
    known = rows.values_list("group__name", "group__allocation_tier", "checks")
    found = {name: (blocks, behind(blocks, tier, now)) for name, tier, checks in known if (blocks := blocks_of(checks))}
    return {name: (blocks[0].code, more) for name, (blocks, more) in found.items() if more.blocks}


def blocked_by(code: str, now: datetime) -> Q:
    """Records whose outcome this is, or that it blocks behind another one, where the record says so."""
    column = ENDS.get(code)
    return Q(outcome=code) | Q(**{f"{column}__gt": now}) if column else Q(outcome=code)
