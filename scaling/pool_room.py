"""What quota pools hold and have left: the planner's sum, made of what is stored now."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest

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
        return f"quota pool {self.pool} has {self.left:,} of {self.limit:,} left{told}, one slice takes {self.cost:,}"


def room_in(pool_name: str, group: Group) -> PoolRoom | None:
    """What is left in the pool for this group; None where nothing limits it. One query."""
    pool: Any = with_held(QuotaPool.objects.filter(name=pool_name)).first() if pool_name else None
    limit = limit_of(pool) if pool else None
    if limit is None:
        return None
    learned = pool.learned_limit is not None and (pool.limit is None or pool.learned_limit < pool.limit)
    cost = max(group.devices_per_worker, 1) * group.workers_per_slice
    return PoolRoom(pool.name, max(limit - pool.held, 0), limit, cost, learned)


def with_held(pools: QuerySet[QuotaPool]) -> QuerySet[QuotaPool]:
    """The pools, each with `held`: the devices of all slices of its groups that are not gone."""
    cost = Greatest(F("group__devices_per_worker"), 1) * F("group__workers_per_slice")
    slices = Slice.objects.filter(group__quota_pool=OuterRef("pk"), state__in=Slice.LIVE).order_by()
    summed = slices.values("group__quota_pool").annotate(n=Sum(cost, output_field=IntegerField())).values("n")
    return pools.annotate(held=Coalesce(Subquery(summed), 0))


def limit_of(pool: QuotaPool) -> int | None:
    """The limit that counts now, in devices: the lower of its own and the learned one; None for none."""
    return min((limit for limit in (pool.limit, pool.learned_limit) if limit is not None), default=None)
