"""One refresh cycle, live: the seven steps around the pure decision (AUTOSCALER section 2)."""

import logging
import time
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from scaling import clock
from scaling.autoscaler.cycle import run_cycle
from scaling.autoscaler.models import CycleResult, CycleStatus, Listing
from scaling.loops import holders, leases
from scaling.loops.autoscaler import snapshot
from scaling.loops.autoscaler.hearing import with_silence
from scaling.loops.autoscaler.listing import list_platforms
from scaling.loops.autoscaler.lost_tasks import with_lost_tasks
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.loops.autoscaler.still_holds import Stale
from scaling.loops.autoscaler.store import Timing, store
from scaling.models import Cycle, Installation, Platform

logger = logging.getLogger("scaling.autoscaler")

LEASE = "autoscaler"

# Plans are made in milliseconds and stored at once; one that is overtaken is made again, this often.
PLANS = 5


@dataclass(frozen=True, slots=True)
class _Planned:
    before: Snapshot
    result: CycleResult
    plan_ms: float


def run(now: datetime) -> None:
    """The loop's body. Without the lease (another control plane holds it) nothing is done.

    It is given back after each cycle, since the next one is any worker's.
    """
    lease = holders.take(LEASE, settings.IRIS_LEASE_TTL, now)
    if lease is None:
        return
    try:
        run_held(lease)
    except leases.LeaseLost as lost:
        logger.warning("cycle not stored", extra={"reason": str(lost)})
    except Exception:
        leases.release(lease)
        raise
    leases.release(lease)


def run_held(lease: leases.Held) -> Cycle | None:
    """List, plan, store; plans again when something the plan rests on changed before it was stored."""
    started_at, began = clock.now(), time.monotonic()
    observations = _list()
    for _plan in range(PLANS):
        planned = _decide(observations)
        timing = Timing(started_at, began, planned.plan_ms)
        try:
            cycle = store(planned.result, planned.before, lease, timing)
        except Stale as stale:
            logger.info("planned again", extra={"changed": str(stale)})
            continue
        _say(planned)
        return cycle
    logger.warning("cycle given up: what its plans rested on changed each time", extra={"plans": PLANS})
    return _give_up(lease, started_at)


def _list() -> dict[str, Listing]:
    """Step 1, state collection: every platform with groups or slices, before anything of ours is read."""
    identity = Installation.objects.values_list("identity", flat=True).get()
    in_use = Platform.objects.filter(groups__isnull=False) | Platform.objects.filter(slices__isnull=False)
    return list_platforms(list(in_use.distinct()), identity)


def _decide(observations: dict[str, Listing]) -> _Planned:
    """Steps 2 to 7, decided by the pure core on one snapshot of what is stored."""
    before = snapshot.read()
    at = clock.now()
    now, told = at.timestamp(), with_silence(observations, before, at)
    before = with_lost_tasks(before, told, at)
    began = time.perf_counter()
    result = run_cycle(before.state, told, before.demand, now, seed=f"{now:.6f}")
    return _Planned(before, result, (time.perf_counter() - began) * 1000)


def _give_up(lease: leases.Held, started_at: datetime) -> Cycle:
    with transaction.atomic():
        leases.fence(lease.name, lease.token)
        return Cycle.objects.create(
            started_at=started_at,
            status=Cycle.Status.ABORTED,
            reason="what the plan rested on changed each time before it could be stored",
            fencing_token=lease.token,
        )


_last_status: dict[str, str] = {}


def _say(planned: _Planned) -> None:
    """A cycle is said when its status changes, or when it did something."""
    result = planned.result
    said = f"{result.status} {result.reason}"
    if said != _last_status.get(LEASE):
        _last_status[LEASE] = said
        level = logging.WARNING if result.status is CycleStatus.ABORTED else logging.INFO
        logger.log(level, "cycles are %s", result.status.value, extra={"reason": result.reason})
    for action in result.actions:
        logger.info(action.kind.value, extra={"group": action.group, "slice": action.slice, "reason": action.reason})
