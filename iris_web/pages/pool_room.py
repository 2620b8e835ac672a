"""How many more slices of a group its quota pool can pay for: the planner's sum, made of what is stored now."""

from dataclasses import dataclass

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Greatest

from iris_web.pages import words
from scaling.models import Group, QuotaPool, Slice


@dataclass(frozen=True, slots=True)
class PoolRoom:
    """`left` of `limit`, and the `cost` of one slice, in devices. `learned`: the limit is the platform's own word."""

    pool: str
    left: int
    limit: int
    cost: int
    learned: bool

    @property
    def slices(self) -> int:
        return self.left // self.cost

    def __str__(self) -> str:
        told = " as its platform told it" if self.learned else ""
        takes = f"one slice takes {words.number(self.cost)}"
        return f"quota pool {self.pool} has {words.number(self.left)} of {words.number(self.limit)} left{told}, {takes}"


def room_in(pool_name: str, group: Group) -> PoolRoom | None:
    """What is left in the pool for this group; None where nothing limits it. Two queries."""
    pool = QuotaPool.objects.filter(name=pool_name).first() if pool_name else None
    limits = [] if pool is None else [limit for limit in (pool.limit, pool.learned_limit) if limit is not None]
    if pool is None or not limits:
        return None
    limit = min(limits)
    learned = pool.learned_limit is not None and (pool.limit is None or pool.learned_limit < pool.limit)
    return PoolRoom(pool.name, max(limit - _used(pool), 0), limit, _cost_of(group), learned)


def _used(pool: QuotaPool) -> int:
    costs = Greatest(F("devices_per_worker"), 1) * F("workers_per_slice")
    held = pool.groups.annotate(held=Count("slices", filter=Q(slices__state__in=Slice.LIVE)))
    return int(held.aggregate(used=Sum(F("held") * costs))["used"] or 0)


def _cost_of(group: Group) -> int:
    return max(group.devices_per_worker, 1) * group.workers_per_slice
