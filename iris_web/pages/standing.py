"""How a group that fits a job stands: what blocks it, until when, and what would open it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from iris_web.pages import words
from iris_web.pages.halts import Standstill
from iris_web.pages.lasting import Behind, Block, behind
from iris_web.pages.openings import Opening, Sharer
from iris_web.pages.remedies import REMEDIES, Advice, GroupRow
from iris_web.pages.tiers import Marks, is_told_already, shutting


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """One group as the job finds it. `why` says what does not fit; where all fits, `outcome` says how it stands.

    The outcome is the code that pages show (see `halts`). `also` are the other checks that block, each with what would
    open it: only all of them together open the group. `until` is the latest end of what blocks; `at_least` where
    something else does whose end nobody knows. `behind` outlasts the outcome itself.
    """

    name: str
    outcome: str = ""
    detail: str = ""
    until: datetime | None = None
    why: str = ""
    advice: Advice | None = None
    also: tuple[tuple[str, Advice], ...] = ()
    at_least: bool = False
    behind: Behind = field(default_factory=Behind)


class Around(NamedTuple):
    """What else a verdict looks at: open markers, who stands still why, what all blocks with the planner's words, how
    far limits must be raised, and who shares the pools.
    """

    markers: Marks
    standstill: Standstill
    blocking: Mapping[int, Sequence[Block]]
    openings: Mapping[int, Opening]
    sharers: list[Sharer]
    now: datetime


def standing(row: GroupRow, blocked: Mapping[str, Any] | None, around: Around) -> GroupVerdict:
    outcome = str(blocked["outcome"]) if blocked else row.outcome or ""
    detail = row.detail if row.outcome == outcome and row.detail else ""
    code = around.standstill.code(row.pk, outcome)
    row = row._replace(opening=around.openings.get(row.pk))
    blocks = around.blocking.get(row.pk, ())
    if not blocks or blocks[0].code != outcome:
        # The planner said another thing of it to the job: that alone holds.
        blocks = [Block(outcome, detail)]
    blocks = [blocks[0]._replace(until=_until(blocked, row, outcome) or blocks[0].until), *blocks[1:]]
    if any(block.code == "TIER_BLOCKED" for block in blocks):
        row = row._replace(shut=shutting(row.name, row.tier, around.sharers, around.markers, around.now))
    blocks = _without_own_tier(row, blocks)
    advise = REMEDIES.get(code)
    ends = [_end(row, block) for block in blocks]
    known = [end for end in ends if end]
    return GroupVerdict(
        row.name,
        code,
        detail,
        max(known, default=None),
        advice=advise(row, around.markers) if advise else None,
        also=_also(row, blocks, around),
        at_least=len(known) < len(ends),
        behind=behind(blocks, row.tier, around.now),
    )


def _without_own_tier(row: GroupRow, blocks: Sequence[Block]) -> list[Block]:
    """The blocks but for a tier that is closed by nothing else than what the others tell of the group itself."""
    codes = [block.code for block in blocks]
    told = (is_told_already(block.detail, codes, row.name, row.shut) for block in blocks)
    return [block for block, twice in zip(blocks, told, strict=True) if block.code != "TIER_BLOCKED" or not twice]


def _also(row: GroupRow, blocks: Sequence[Block], around: Around) -> tuple[tuple[str, Advice], ...]:
    """What must change besides the first."""
    found = []
    for block in blocks[1:]:
        code = around.standstill.code(row.pk, block.code)
        if code in REMEDIES:
            found.append((code, REMEDIES[code](row._replace(detail=block.detail), around.markers)))
    return tuple(found)


def _end(row: GroupRow, block: Block) -> datetime | None:
    """When it ends by itself: a tier, when the last failure ends that closes it."""
    if block.code == "TIER_BLOCKED" and row.shut and all(one.until for one in row.shut):
        return max(one.until for one in row.shut if one.until)
    return block.until


def _until(blocked: Mapping[str, Any] | None, row: GroupRow, outcome: str) -> datetime | None:
    if blocked and (until := words.moment(blocked.get("until"))):
        return until
    return {"STOCKOUT": row.stockout_until, "BACKOFF": row.backoff_expires_at}.get(outcome)
