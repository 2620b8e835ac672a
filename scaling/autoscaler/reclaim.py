"""Scale-down (AUTOSCALER section 7): which slices may go, the longest idle first, whole, within the rate."""

from collections.abc import Mapping
from dataclasses import replace

from scaling.autoscaler.books import Books
from scaling.autoscaler.buying import is_acting
from scaling.autoscaler.group_plan import GroupPlan
from scaling.autoscaler.models import ActionKind, DeleteCause, Drain, ScalingGroup, Slice, SliceState
from scaling.autoscaler.quantities import duration_words
from scaling.autoscaler.rates import Tokens, refilled
from scaling.autoscaler.room import Room
from scaling.autoscaler.rooms import idle_since, is_kept


def release(
    books: Books, plans: Mapping[str, GroupPlan], gangs: Mapping[str, int]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Tokens]]:
    """Marks the slices that go DRAINING and tells their platforms; returns names and tokens left, by group."""
    candidates: dict[str, list[Slice]] = {}
    for item in books.slices.values():
        if item.group in plans and item.state in (SliceState.READY, SliceState.DRAINING):
            candidates.setdefault(item.group, []).append(item)
    released: dict[str, tuple[str, ...]] = {}
    tokens: dict[str, Tokens] = {}
    for name in sorted(candidates):
        plan = plans[name]
        if books.before.halted is not None or plan.group.platform in books.unreachable:
            continue
        bucket = books.before.down_buckets.get(name)
        tokens[name] = refilled(bucket, plan.group.scale_down_rate, books.now)
        released[name] = _release(books, plan, candidates[name], tokens[name], gangs)
    return released, tokens


def _release(
    books: Books, plan: GroupPlan, candidates: list[Slice], tokens: Tokens, gangs: Mapping[str, int]
) -> tuple[str, ...]:
    drain = books.control(plan.group.name).drain
    planned = {room.slice.name for room in _rooms(plan) if room.slice is not None and room.taken}
    spare = spare_slices(plan.ready, plan.target)
    names = []
    for item in sorted(candidates, key=_longest_idle_first):
        if not tokens.allows(1):
            break
        counts = item.state is SliceState.READY and item.drain is None
        if counts and drain is None and spare < 1:
            continue
        if item.name in planned or is_kept(item, plan.group.provision_timeout, books.now, gangs):
            continue
        # Last, as the words for it cost the most.
        reason = reason_to_go(item, plan.group, drain, books.now)
        if not reason:
            continue
        tokens.take(1)
        spare -= counts
        names.append(item.name)
        _send_away(books, plan, item, reason)
    return tuple(names)


def spare_slices(ready: int, target: int) -> int:
    """How many READY slices of a group may go so that the target is left: the longest idle, whoever tells of it."""
    return max(0, ready - target)


def _rooms(plan: GroupPlan) -> list[Room]:
    return [*plan.rooms[0], *plan.kept]


def _longest_idle_first(item: Slice) -> tuple[bool, float, str]:
    since = idle_since(item)
    return (since is None, 0.0 if since is None else since, item.name)


def reason_to_go(item: Slice, group: ScalingGroup, group_drain: Drain | None, now: float) -> str:
    """Why a READY or DRAINING slice may go by itself, or "": to be asked again in the transaction that marks it.

    All its known workers have been idle for the window (edges count) and at least one is known; no worker, known or
    silent, has a task. In a drain the window is the longer one, and at the deadline what is still busy ends as well.
    """
    if item.delete_asked_at is not None:
        return ""
    for drain in (group_drain, item.drain):
        if drain is not None and drain.deadline is not None and now >= drain.deadline:
            return f"the drain's deadline has passed, ordered by {drain.by or 'an operator'}"
    since = idle_since(item)
    if since is None:
        return ""
    drains = group_drain is not None or item.drain is not None or item.state is SliceState.DRAINING
    window = group.drain_idle_threshold if drains else group.idle_threshold
    if now - since < window:
        return ""
    allowed = "drained" if drains else "allowed"
    return f"idle for {duration_words(now - since)}, {allowed} after {duration_words(window)}"


def _send_away(books: Books, plan: GroupPlan, item: Slice, reason: str) -> None:
    acting = is_acting(books, plan)
    books.act(ActionKind.SCALE_DOWN, item.group, item.name, reason, observed=not acting)
    if acting:
        books.ask_delete(replace(item, state=SliceState.DRAINING), DeleteCause.RELEASED, reason)
