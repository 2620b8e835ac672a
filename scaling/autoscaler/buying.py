"""Step 5 of a cycle, its decisions: floors and buffers, what the rates allow, and the slices to be asked for.

The order in which the last units of pools and rates go: what is to be asked for again, then demand in its order, then
min_slices, then buffers, these by the groups' priority, then name (AUTOSCALER sections 1 and 4).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scaling.autoscaler.books import Books
from scaling.autoscaler.group_plan import BUFFER, CLOSED_FOR_GANGS_TOO, DEMAND, FLOOR, GroupPlan
from scaling.autoscaler.models import ActionKind, CreateIntent, Mode, Outcome, PlatformStatus, Slice, SliceState
from scaling.autoscaler.naming import slice_name
from scaling.autoscaler.rates import Tokens, refilled
from scaling.autoscaler.room import Opening, Order, Room
from scaling.counting import counted

# A request that a rate of the platform refused is not repeated while its group is closed for one of these.
_NO_RETRY = CLOSED_FOR_GANGS_TOO | {Outcome.BACKOFF, Outcome.STOCKOUT}


def by_priority(plans: Iterable[GroupPlan]) -> list[GroupPlan]:
    return sorted(plans, key=lambda plan: (plan.group.priority, plan.group.name))


def open_floors_and_buffers(plans: Iterable[GroupPlan], openings: list[Opening]) -> None:
    """Slices beyond demand: first every group's min_slices, then what its target still lacks."""
    ordered = by_priority(plans)
    for plan in ordered:
        _open(plan, plan.group.floor - plan.supply, FLOOR, openings)
    for plan in ordered:
        _open(plan, plan.target - plan.supply, BUFFER, openings)


def _open(plan: GroupPlan, slices: int, order: Order, openings: list[Opening]) -> None:
    slices = min(slices, plan.headroom)
    if slices > 0:
        openings.append((plan.open_slices(slices, order), slices))


# -- requests to be repeated


def due_retries(books: Books, plans: Mapping[str, GroupPlan], gangs: Mapping[str, int]) -> list[Slice]:
    """The requests that a per-minute rate refused and that may be sent again, oldest first.

    In a group that is probing one of them is the probe.
    """
    waiting = [
        item
        for item in books.slices.values()
        if item.state is SliceState.REQUESTING
        and item.retry_at is not None
        and item.retry_at <= books.now
        and item.group in plans
    ]
    due = []
    for item in sorted(waiting, key=lambda item: (item.created, item.name)):
        plan = plans[item.group]
        if not _may_retry(plan, item, gangs):
            continue
        if plan.probing and not item.probe:
            if plan.probe_used:
                continue
            item = replace(item, probe=True)
        plan.probe_used = True
        due.append(item)
    return due


def _may_retry(plan: GroupPlan, item: Slice, gangs: Mapping[str, int]) -> bool:
    closed = CLOSED_FOR_GANGS_TOO if item.gang_job in gangs else _NO_RETRY
    if any(check.blocked and check.outcome in closed for check in plan.evaluation.checks):
        return False
    return item.gang_job in gangs or not plan.quota_marked


# -- rates


@dataclass(slots=True)
class Purse:
    """The tokens of a cycle: of every group, and over all groups."""

    books: Books
    overall: Tokens
    groups: dict[str, Tokens] = field(default_factory=dict)
    observed: dict[str, Tokens] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, books: Books) -> "Purse":
        state = books.before
        recent = [at for times in state.recent_creates.values() for at in times]
        return cls(books, refilled(state.create_bucket, state.creates_per_minute, books.now, recent))

    def of_group(self, plan: GroupPlan) -> Tokens:
        name = plan.group.name
        if not is_acting(self.books, plan):
            # What is only observed takes nothing from what is done.
            return self.observed.setdefault(name, Tokens(plan.group.scale_up_rate, plan.group.scale_up_rate))
        if name not in self.groups:
            state = self.books.before
            recent = state.recent_creates.get(name, ())
            bucket = state.up_buckets.get(name)
            self.groups[name] = refilled(bucket, plan.group.scale_up_rate, self.books.now, recent)
        return self.groups[name]

    def pay(self, plan: GroupPlan, slices: int, together: bool) -> int:
        """How many of so many slices may be asked for now; what must wait closes its group for this cycle."""
        own = self.of_group(plan)
        overall = self.overall if is_acting(self.books, plan) else own
        size = slices if together else 1
        paid = 0
        while paid < slices and plan.group.name not in self.closed:
            if not own.allows(size):
                self.closed[plan.group.name] = f"{_a_minute(plan.group.scale_up_rate)} in this group"
            elif not overall.allows(size):
                self.closed[plan.group.name] = f"{_a_minute(overall.capacity)} over all groups"
            else:
                own.take(size)
                if overall is not own:
                    overall.take(size)
                paid += size
        return paid


def is_acting(books: Books, plan: GroupPlan) -> bool:
    return books.platforms.get(plan.group.platform, PlatformStatus()).mode is Mode.ACT


# -- what is asked for


@dataclass(slots=True)
class Purchase:
    """What a cycle asks for: the intents, and by group how many slices are asked for and how many must wait.

    `bought`: the names of the slices of each planned room.
    """

    creates: list[CreateIntent] = field(default_factory=list)
    bought: dict[Room, list[str]] = field(default_factory=dict)
    requested: Counter[str] = field(default_factory=Counter)
    deferred: Counter[str] = field(default_factory=Counter)


def buy(
    books: Books,
    plans: Sequence[GroupPlan],
    retries: Iterable[Slice],
    openings: Iterable[Opening],
    purse: Purse,
    seed: str,
) -> Purchase:
    """Writes the slices that the rates allow into the books, in REQUESTING with their final names."""
    purchase = Purchase()
    by_name = {plan.group.name: plan for plan in plans}
    for item in retries:
        plan = by_name[item.group]
        if purse.pay(plan, 1, together=False) and is_acting(books, plan):
            books.slices[item.name] = replace(item, retry_at=None)
            purchase.creates.append(CreateIntent(item.name, item.group, plan.group.platform, retry=True))
    closed: set[int] = set()
    for room, slices in openings:
        if room.group in closed:
            continue
        plan = plans[room.group]
        order = room.order or DEMAND
        paid = purse.pay(plan, slices, together=order.is_gang)
        room.granted += paid
        for _ in range(paid):
            purchase.bought.setdefault(room, []).append(_request(books, plan, order, purchase, seed))
        if paid < slices:
            closed.add(room.group)
    for plan in plans:
        name = plan.group.name
        purchase.deferred[name] = plan.opened + plan.opened_beyond - purchase.requested[name]
    for name, slices in sorted(purchase.deferred.items()):
        if slices:
            reason = f"{counted(slices, 'slice')} must wait: at most {purse.closed[name]}"
            books.act(ActionKind.DEFERRED, name, "", reason, observed=not is_acting(books, by_name[name]))
    return purchase


def _request(books: Books, plan: GroupPlan, order: Order, purchase: Purchase, seed: str) -> str:
    """Writes one slice down and returns its name."""
    group = plan.group
    number = purchase.requested[group.name]
    purchase.requested[group.name] += 1
    prefix = books.before.name_prefix.get(group.platform, "")
    name = slice_name(prefix, group.name, seed, number, books.slices)
    acting = is_acting(books, plan)
    probe = ", as a probe" if plan.probing else ""
    books.act(ActionKind.SCALE_UP, group.name, name, f"{order.purpose}{probe}", observed=not acting)
    if not acting:
        return name
    books.slices[name] = Slice(
        name=name,
        group=group.name,
        state=SliceState.REQUESTING,
        created=books.now,
        probe=plan.probing,
        gang_job=order.gang_job,
        gang_since=order.gang_since,
    )
    purchase.creates.append(CreateIntent(name, group.name, group.platform))
    return name


def _a_minute(slices: float) -> str:
    return f"{slices:g} slice{'' if slices == 1 else 's'} per minute"
