"""How far a limit must be raised until a group has room for a job: what groups hold, and what their pools have left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Q

from scaling.models import Group, QuotaPool, Slice
from scaling.pool_room import limit_of, with_held


@dataclass(frozen=True, slots=True)
class Opening:
    """The least that opens one group. `slices`: its max; `limit`: its pool's, in devices, None where nothing limits it.

    `limit_now` is the limit in force, `learned` where it is the platform's own word.
    """

    slices: int
    limit: int | None = None
    limit_now: int | None = None
    left: int = 0
    cost: int = 1
    learned: bool = False


class Candidate(NamedTuple):
    """A group that fits: its pool and tier there, what one slice takes of the pool, and how many the job needs."""

    pk: int
    pool_id: int | None
    tier: int | None
    cost: int
    slices: int


class Sharer(NamedTuple):
    """A group of a pool, and what one slice of it takes."""

    pool_id: int
    name: str
    zone: str
    tier: int | None
    devices_per_worker: int
    workers_per_slice: int

    @property
    def cost(self) -> int:
        return max(self.devices_per_worker, 1) * self.workers_per_slice


def sharers(pool_ids: Iterable[int | None]) -> list[Sharer]:
    """The groups of these pools. One query, none without a pool."""
    ids = [pk for pk in set(pool_ids) if pk is not None]
    columns = ("quota_pool_id", "name", "zone", "allocation_tier", "devices_per_worker", "workers_per_slice")
    rows = Group.objects.filter(quota_pool_id__in=ids).values_list(*columns) if ids else ()
    return [Sharer(*row) for row in rows]


def openings(candidates: Iterable[Candidate], around: Iterable[Sharer]) -> dict[int, Opening]:
    """By group. Two queries, one where no pool is among them, none for none.

    A gang takes room that is there or coming first; the next slice of other jobs is one more than what is held. A pool
    must be able to pay a slice of every group at that tier or below, or the tier stays closed.
    """
    wanted = list(candidates)
    if not wanted:
        return {}
    held = _held([one.pk for one in wanted])
    ids = {one.pool_id for one in wanted if one.pool_id is not None}
    pools: Mapping[int, Any] = with_held(QuotaPool.objects.all()).in_bulk(ids) if ids else {}
    return {one.pk: _opening(one, *held.get(one.pk, (0, 0)), pools.get(one.pool_id or 0), around) for one in wanted}


def _held(pks: list[int]) -> dict[int, tuple[int, int]]:
    """By group: slices that are not gone, and those of them that are idle or coming. One query."""
    free = Q(state__in=(Slice.State.REQUESTING, Slice.State.BOOTING)) | Q(state="READY", idle_since__isnull=False)
    live = Slice.objects.filter(group__in=pks, state__in=Slice.LIVE).order_by().values_list("group_id")
    counted = live.annotate(held=Count("pk"), free=Count("pk", filter=free & Q(drain_since=None)))
    return {pk: (held, room) for pk, held, room in counted}


def _opening(one: Candidate, held: int, free: int, pool: Any, around: Iterable[Sharer]) -> Opening:
    more = max(1, one.slices - free)
    limit = limit_of(pool) if pool is not None else None
    if limit is None:
        return Opening(held + more)
    lower = [
        other.cost
        for other in around
        if other.pool_id == pool.pk and one.tier is not None and other.tier is not None and other.tier <= one.tier
    ]
    needed = pool.held + max(more * one.cost, *lower, 0)
    learned = pool.learned_limit is not None and (pool.limit is None or pool.learned_limit < pool.limit)
    return Opening(held + more, needed, limit, max(limit - pool.held, 0), one.cost, learned)
