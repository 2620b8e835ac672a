"""Step 4 of a cycle: the filter chain, evaluated for every group before this cycle's buying (AUTOSCALER section 4)."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scaling.autoscaler import markers as rules
from scaling.autoscaler.books import Books
from scaling.autoscaler.models import (
    Check,
    GroupEvaluation,
    Marker,
    MarkerKind,
    Outcome,
    QuotaPool,
    ScalingGroup,
    Slice,
    SliceState,
)

# (pool, zone) -> the lowest tier that is closed there; zone None = the whole pool.
ClosedTiers = dict[tuple[str, str | None], float]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the checks of one group look at."""

    group: ScalingGroup
    books: Books
    markers: dict[MarkerKind, Marker]
    slices: Counter[SliceState]
    capacity_remaining: int
    quota_remaining: int | None
    probe: Slice | None
    closed_tiers: ClosedTiers = field(default_factory=dict)

    def active(self, kind: MarkerKind) -> Marker | None:
        marker = self.markers.get(kind)
        return marker if marker is not None and marker.active(self.books.now) else None

    @property
    def cannot_pay(self) -> bool:
        return self.quota_remaining is not None and self.quota_remaining < self.group.slice_cost

    @property
    def probing(self) -> bool:
        """Some marker has run out and no success has cleared it yet: one slice (or one gang) may be asked for."""
        return any(kind in self.markers for kind in rules.CLEARED_BY_SUCCESS)


Verdict = tuple[str, float | None]


def _unreachable(facts: Facts) -> Verdict | None:
    if facts.group.platform not in facts.books.unreachable:
        return None
    status = facts.books.platforms[facts.group.platform]
    # Since when is the platform's own fact: here it would be a number on an axis that nobody reads.
    return f"platform {facts.group.platform} cannot be listed: {status.error}", None


def _draining(facts: Facts) -> Verdict | None:
    drain = facts.books.control(facts.group.name).drain
    return None if drain is None else (f"draining, ordered by {drain.by or 'an operator'}", drain.deadline)


def _paused(facts: Facts) -> Verdict | None:
    halted = facts.books.before.halted
    if halted is not None:
        return f"buying and releasing of slices is stopped by {halted.by or 'an operator'}", halted.until
    pause = facts.books.control(facts.group.name).pause
    if pause is None or (pause.until is not None and pause.until <= facts.books.now):
        return None
    return f"paused by {pause.by or 'an operator'}", pause.until


def _refused(facts: Facts) -> Verdict | None:
    marker = facts.active(MarkerKind.PERMANENT)
    return None if marker is None else (marker.error or "the platform refused for good", None)


def _full(facts: Facts) -> Verdict | None:
    if facts.capacity_remaining > 0:
        return None
    held = sum(count for state, count in facts.slices.items() if state.counts)
    most = facts.group.max_slices
    return f"{held} of at most {most} {'slice' if most == 1 else 'slices'}", None


def _over_quota(facts: Facts) -> Verdict | None:
    marker = facts.active(MarkerKind.QUOTA)
    if marker is not None:
        return marker.error or "the platform reports an exceeded quota", marker.until
    if facts.cannot_pay:
        cost = facts.group.slice_cost
        return f"pool {facts.group.quota_pool} has {facts.quota_remaining} left, one slice takes {cost}", None
    return None


def _backing_off(facts: Facts) -> Verdict | None:
    marker = facts.active(MarkerKind.BACKOFF)
    return None if marker is None else (marker.error or "backing off after a failure", marker.until)


def _out_of_stock(facts: Facts) -> Verdict | None:
    marker = facts.active(MarkerKind.STOCKOUT)
    return None if marker is None else (marker.error or "out of stock", marker.until)


def _probe_in_flight(facts: Facts) -> Verdict | None:
    if facts.probe is None or not facts.probing:
        return None
    return f"slice {facts.probe.name} is the probe", None


def _closed_by_tier(facts: Facts) -> Verdict | None:
    pool, tier = facts.group.quota_pool, facts.group.allocation_tier
    if pool is None or tier is None:
        return None
    for zone in (None, facts.group.zone):
        lowest = facts.closed_tiers.get((pool, zone), math.inf)
        if lowest <= tier:
            where = "" if zone is None else f" in zone {zone}" if zone else " in groups without a zone"
            return f"tier {lowest:g} of pool {pool} is closed{where}", None
    return None


# The chain: the first check that fails names the outcome.
CHAIN: tuple[tuple[Outcome, Callable[[Facts], Verdict | None]], ...] = (
    (Outcome.PLATFORM_UNREACHABLE, _unreachable),
    (Outcome.DRAINING, _draining),
    (Outcome.PAUSED, _paused),
    (Outcome.CREATE_REFUSED, _refused),
    (Outcome.CAPACITY_EXCEEDED, _full),
    (Outcome.QUOTA_EXCEEDED, _over_quota),
    (Outcome.BACKOFF, _backing_off),
    (Outcome.STOCKOUT, _out_of_stock),
    (Outcome.PROBING, _probe_in_flight),
    (Outcome.TIER_BLOCKED, _closed_by_tier),
)

_PASSED = {outcome: Check(outcome, False) for outcome, _ in CHAIN}


def evaluate(books: Books) -> tuple[dict[str, GroupEvaluation], dict[str, Facts]]:
    """The evaluation of every group (what is decided later is filled in then), and the facts behind it."""
    facts = _gather(books)
    closed_tiers = _closed_tiers(facts.values())
    for item in facts.values():
        item.closed_tiers.update(closed_tiers)
    return {name: _evaluate(item) for name, item in facts.items()}, facts


def _gather(books: Books) -> dict[str, Facts]:
    counts: dict[str, Counter[SliceState]] = {name: Counter() for name in books.groups}
    probes: dict[str, Slice] = {}
    for item in sorted(books.slices.values(), key=lambda item: item.name):
        if item.group not in counts:
            continue
        counts[item.group][item.state] += 1
        if item.probe and item.state.in_flight:
            probes.setdefault(item.group, item)
    held = {name: sum(n for state, n in states.items() if state.counts) for name, states in counts.items()}
    remaining = pools_remaining(books, held)
    return {
        name: Facts(
            group=group,
            books=books,
            markers=books.markers_of(name),
            slices=counts[name],
            capacity_remaining=max(group.max_slices - held[name], 0),
            quota_remaining=remaining.get(group.quota_pool or ""),
            probe=probes.get(name),
        )
        for name, group in sorted(books.groups.items())
    }


def pools_remaining(books: Books, held: dict[str, int]) -> dict[str, int]:
    """What each limited pool has left, in its units; `held`: slices that are not gone, by group."""
    used: Counter[str] = Counter()
    for name, group in books.groups.items():
        if group.quota_pool:
            used[group.quota_pool] += held[name] * group.slice_cost
    return {name: _left(pool, used[name]) for name, pool in books.pools.items() if rules.limit_of(pool) is not None}


def _left(pool: QuotaPool, used: int) -> int:
    return max((rules.limit_of(pool) or 0) - used, 0)


def _closed_tiers(facts: Iterable[Facts]) -> ClosedTiers:
    """For each pool the lowest tier closed by quota, and for each of its zones the lowest one out of stock."""
    closed: ClosedTiers = {}
    for item in facts:
        pool, tier = item.group.quota_pool, item.group.allocation_tier
        if pool is None or tier is None:
            continue
        if item.cannot_pay or item.active(MarkerKind.QUOTA):
            closed[pool, None] = min(tier, closed.get((pool, None), math.inf))
        if item.active(MarkerKind.STOCKOUT):
            closed[pool, item.group.zone] = min(tier, closed.get((pool, item.group.zone), math.inf))
    return closed


def _evaluate(facts: Facts) -> GroupEvaluation:
    verdicts = [(outcome, judge(facts)) for outcome, judge in CHAIN]
    checks = [_PASSED[outcome] if verdict is None else Check(outcome, True, *verdict) for outcome, verdict in verdicts]
    first = next((check for check in checks if check.blocked), Check(Outcome.AVAILABLE, False))
    backoff, stockout = facts.active(MarkerKind.BACKOFF), facts.active(MarkerKind.STOCKOUT)
    return GroupEvaluation(
        name=facts.group.name,
        outcome=first.outcome,
        checks=tuple(checks),
        detail=first.detail,
        until=first.until,
        capacity_remaining=facts.capacity_remaining,
        quota_remaining=facts.quota_remaining,
        backoff_expires_at=backoff.until if backoff else None,
        stockout_until=stockout.until if stockout else None,
        slices={state: facts.slices[state] for state in SliceState if state is not SliceState.GONE},
    )
