"""One refresh cycle of the group autoscaler, as a pure function of what is stored, what is seen, demand and time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from scaling.autoscaler import buying, reclaim
from scaling.autoscaler.books import Books
from scaling.autoscaler.bought_for import bought_for
from scaling.autoscaler.collector import CollectorAtRest
from scaling.autoscaler.demand import DemandEntry, in_order, waiting_gangs
from scaling.autoscaler.evaluation import Facts, evaluate
from scaling.autoscaler.group_plan import GroupPlan, PoolBalance
from scaling.autoscaler.hints import HintWriter
from scaling.autoscaler.lazily import Lazily
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import (
    Action,
    ActionKind,
    ClusterState,
    CycleResult,
    CycleStatus,
    GroupEvaluation,
    HintCode,
    Listing,
    Mode,
    PendingHint,
    PlatformStatus,
)
from scaling.autoscaler.rates import Tokens, stored
from scaling.autoscaler.reconcile import check_platforms, collect
from scaling.autoscaler.rooms import is_kept, offer_rooms
from scaling.autoscaler.routing import Router
from scaling.autoscaler.seeker import Routed


def run_cycle(
    state: ClusterState,
    observations: Mapping[str, Listing],
    demand: Iterable[DemandEntry],
    now: float,
    seed: str = "",
) -> CycleResult:
    """All seven steps but the sending: store `result.state` in one transaction, then send creates and deletes.

    `observations` holds a Listing for each platform in use (a missing one counts as not listed). `demand` holds one
    entry per job with the number of its tasks that wait (see `lost_slices`). `seed` makes the names of new slices
    unique: give one that was never given before (a cycle's id); without it the time serves. An aborted cycle changes
    nothing but the count of failed listings.
    """
    with CollectorAtRest():
        return _run_cycle(state, observations, demand, now, seed)


def _run_cycle(
    state: ClusterState, observations: Mapping[str, Listing], demand: Iterable[DemandEntry], now: float, seed: str
) -> CycleResult:
    books = Books(state, now)

    # 1. State collection
    reason = check_platforms(books, observations)
    if reason:
        counted = replace(state, platforms=books.platforms)
        return CycleResult(CycleStatus.ABORTED, reason, now, counted)
    collect(books, observations)

    # 2. Demand computation
    entries = in_order(demand, now)
    gangs = waiting_gangs(entries) if any(item.gang_job for item in books.slices.values()) else {}
    _let_go_of_gangs(books, gangs)

    # 4. Group evaluation (routing needs to know what may be opened)
    evaluations, facts = evaluate(books)
    plans = plans_in_order(books, evaluations, facts)
    by_name = {plan.group.name: plan for plan in plans}
    retries = buying.due_retries(books, by_name, gangs)

    # 3. Demand routing
    holds = offer_rooms(books, by_name, gangs)
    index = GroupIndex([plan.group for plan in plans])
    router = Router(plans, index, holds, now)
    routed = router.route(entries)

    # 5. Provisioning: the intents (6., failure classification, is where answers come in: provisioning.py)
    buying.open_floors_and_buffers(plans, router.openings)
    purse = buying.Purse.of(books)
    purchase = buying.buy(books, plans, retries, router.openings, purse, seed or repr(now))
    released, down_tokens = reclaim.release(books, by_name, gangs)

    # 7. Status emission
    hints = HintWriter(plans, index, holds, state.hints_since, now).write(routed)
    return CycleResult(
        status=CycleStatus.OK,
        reason="",
        at=now,
        state=_state_after(books, purse, down_tokens, hints),
        evaluations={
            plan.group.name: _decided(plan, purchase, released.get(plan.group.name, ()))
            for plan in sorted(plans, key=lambda plan: plan.group.name)
        },
        hints=hints,
        actions=tuple(books.actions),
        creates=tuple(purchase.creates),
        deletes=tuple(item for item in books.deletes if _acts_on(books, item.platform)),
        gone=tuple(books.gone),
        placed=Lazily(partial(_placed, routed)),
        bought_for=Lazily(partial(bought_for, routed, purchase.bought, index)),
        deferred={name: slices for name, slices in sorted(purchase.deferred.items()) if slices},
        backoff_skipped=sum(plan.backoff_skipped for plan in plans),
    )


def lost_slices(state: ClusterState, observations: Mapping[str, Listing], now: float) -> frozenset[str]:
    """The slices that a cycle with these arguments will give up: their tasks wait again and may be demand in it."""
    books = Books(state, now)
    if check_platforms(books, observations):
        return frozenset()
    collect(books, observations)
    return lost_in(books.actions)


def lost_in(actions: Iterable[Action]) -> frozenset[str]:
    """The slices that these actions of a cycle gave up."""
    kinds = (ActionKind.SLICE_LOST, ActionKind.SLICE_FAILED)
    return frozenset(action.slice for action in actions if action.kind in kinds)


def _let_go_of_gangs(books: Books, gangs: Mapping[str, int]) -> None:
    """Slices whose gang no longer waits, or has waited too long, are kept for nobody any more.

    To others their room is new: while it was kept no scheduler could use it.
    """
    for name, item in books.slices.items():
        if item.gang_job and item.group in books.groups:
            timeout = books.groups[item.group].provision_timeout
            if not is_kept(item, timeout, books.now, gangs):
                workers = tuple(replace(worker, freed_at=books.now) for worker in item.workers)
                books.slices[name] = replace(item, gang_job="", gang_since=None, workers=workers)


def plans_in_order(
    books: Books, evaluations: Mapping[str, GroupEvaluation], facts: Mapping[str, Facts]
) -> list[GroupPlan]:
    """The groups in the order of section 3: priority, without markers, remaining capacity, name."""

    def rank(name: str) -> tuple[float, bool, int, str]:
        return (books.groups[name].priority, bool(facts[name].markers), -facts[name].capacity_remaining, name)

    balances: dict[str, PoolBalance] = {}
    plans = []
    for index, name in enumerate(sorted(evaluations, key=rank)):
        group, left = books.groups[name], facts[name].quota_remaining
        balance = None
        if group.quota_pool is not None and left is not None:
            balance = balances.setdefault(group.quota_pool, PoolBalance(left))
        plans.append(GroupPlan(index, group, evaluations[name], facts[name], balance))
    return plans


def _decided(plan: GroupPlan, purchase: buying.Purchase, released: tuple[str, ...]) -> GroupEvaluation:
    name = plan.group.name
    return replace(
        plan.evaluation,
        assigned=plan.assigned,
        deficit=plan.opened,
        scale_up=purchase.requested[name],
        deferred=purchase.deferred[name],
        scale_down=released,
        target=plan.target,
        used=plan.used,
        backoff_skipped=plan.backoff_skipped,
    )


def _placed(routed: Sequence[Routed]) -> dict[str, int]:
    return {
        job_id: tasks - left for (job_id, _, _, (_, tasks, _), _, _), _, placed, left in routed if placed and job_id
    }


def _hints_since(hints: Sequence[PendingHint]) -> dict[str, tuple[HintCode, float]]:
    return {job_id: (code, since) for job_id, code, _, _, since, _, _ in hints if job_id}


def _acts_on(books: Books, platform: str) -> bool:
    return books.platforms.get(platform, PlatformStatus()).mode is Mode.ACT


def _state_after(
    books: Books, purse: buying.Purse, down_tokens: Mapping[str, Tokens], hints: Sequence[PendingHint]
) -> ClusterState:
    now = books.now
    return replace(
        books.before,
        controls=books.controls,
        pools=books.pools,
        slices=books.slices,
        markers=books.markers,
        platforms=books.platforms,
        orphans=books.orphans,
        up_buckets={**books.before.up_buckets, **{name: stored(level, now) for name, level in purse.groups.items()}},
        down_buckets={**books.before.down_buckets, **{name: stored(level, now) for name, level in down_tokens.items()}},
        create_bucket=stored(purse.overall, now),
        hints_since=Lazily(partial(_hints_since, hints)),
    )
