"""Which findings are news: one notice for each condition and object while it lasts. Pure.

* A condition is told once it has lasted as long as its kind asks; one that goes before is forgotten.
* It is over once it has been absent for a while: what comes back meanwhile is the same notice. The while doubles with
  each notice of the same object in the hour before, so that what flaps ends as one lasting notice.
* Nothing is told of what is acknowledged; when that ends and the condition lasts, it is told again.
* What came in too great a number is told together, a little later.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from scaling.notices.findings import Finding, Key
from scaling.notices.kinds import NoticeKind

LONGEST_SETTLE = timedelta(minutes=30)


class Step(StrEnum):
    """What becomes of a notice in one look."""

    OPEN = "open"
    TELL = "tell"
    AGAIN = "again"
    KEEP = "keep"
    ABSENT = "absent"
    OVER = "over"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Rules:
    """`again` None: nothing is told twice. `settle`: how long what is absent may come back as the same."""

    settle: timedelta = timedelta(seconds=60)
    again: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A notice that is not over. `told` None: not yet. `quiet`: it was silenced at the look before.

    `flaps`: how many notices of the same object were over within the hour before it.
    """

    kind: NoticeKind
    object: str
    opened: datetime
    told: datetime | None = None
    absent: datetime | None = None
    acknowledged: bool = False
    quiet: bool = False
    flaps: int = 0

    @property
    def key(self) -> Key:
        return self.kind, self.object


@dataclass(frozen=True, slots=True)
class Change:
    """`finding` is None where the condition is absent; `quiet`: it is silenced now."""

    key: Key
    step: Step
    finding: Finding | None = None
    quiet: bool = False


def decide(
    known: Iterable[Known], found: Iterable[Finding], now: datetime, rules: Rules, *, may_tell: bool = True
) -> list[Change]:
    """What changes, in the order of kinds and objects. Without `may_tell`, what would be told waits for a later look.

    A new finding that is to be told at once is OPEN and TELL.
    """
    findings = {finding.key: finding for finding in found}
    notices = {notice.key: notice for notice in known}
    changes: list[Change] = []
    for key in sorted(findings.keys() | notices.keys()):
        finding, notice = findings.get(key), notices.get(key)
        if finding is None and notice is not None:
            changes += _absent(notice, now, rules, may_tell)
        elif finding is not None and notice is None:
            changes.append(Change(key, Step.OPEN, finding, finding.silenced))
            if may_tell and not finding.silenced and not finding.held:
                changes.append(Change(key, Step.TELL, finding))
        elif finding is not None and notice is not None:
            changes.append(_present(notice, finding, now, rules, may_tell))
    return changes


def _present(notice: Known, finding: Finding, now: datetime, rules: Rules, may_tell: bool) -> Change:
    quiet = finding.silenced or notice.acknowledged
    if quiet or not may_tell:
        return Change(notice.key, Step.KEEP, finding, quiet or notice.quiet)
    if notice.told is None:
        ripe = now - notice.opened >= finding.held
        return Change(notice.key, Step.TELL if ripe else Step.KEEP, finding)
    due = rules.again is not None and now - notice.told >= rules.again
    return Change(notice.key, Step.AGAIN if notice.quiet or due else Step.KEEP, finding)


def _absent(notice: Known, now: datetime, rules: Rules, may_tell: bool) -> list[Change]:
    if notice.told is None:
        return [Change(notice.key, Step.FORGET)]
    if notice.absent is None:
        return [Change(notice.key, Step.ABSENT)]
    if may_tell and now - notice.absent >= settle_time(rules, notice.flaps):
        return [Change(notice.key, Step.OVER)]
    return []


def settle_time(rules: Rules, flaps: int) -> timedelta:
    """How long an object with so many notices in the hour before must be well to count as such."""
    longest = max(LONGEST_SETTLE, rules.settle)
    return min(rules.settle * 2.0 ** min(flaps, 16), longest)


def count_flaps(over: Iterable[Key]) -> Mapping[Key, int]:
    """Notices lately over, by what they were of."""
    counts: dict[Key, int] = {}
    for key in over:
        counts[key] = counts.get(key, 0) + 1
    return counts
