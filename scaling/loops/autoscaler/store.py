"""Step 5 of the cycle: everything a cycle decided, stored in one transaction, with its creates and deletes queued.

The transaction first checks that what the plan relied on still holds; when somebody changed it meanwhile nothing is
written and the cycle plans again.
"""

import time
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from scaling.autoscaler.models import ActionKind, CycleResult
from scaling.loops import leases
from scaling.loops.autoscaler import sending, still_holds
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.loops.autoscaler.store_groups import store_groups
from scaling.loops.autoscaler.store_hints import store_hints
from scaling.loops.autoscaler.store_history import store_history
from scaling.loops.autoscaler.store_platforms import store_platforms
from scaling.loops.autoscaler.store_slices import store_slices
from scaling.loops.scheduler.endings import lose
from scaling.loops.scheduler.told import Told
from scaling.models import Cycle
from scaling.moments import moment


@dataclass(frozen=True, slots=True)
class Timing:
    """When the cycle started, on the wall and on the monotonic clock, and how long its plan took."""

    started_at: datetime
    began: float
    plan_ms: float


def store(result: CycleResult, before: Snapshot, lease: leases.Held, timing: Timing) -> Cycle:
    """Write it all or nothing; raises LeaseLost when another holder took over, Stale when the plan no longer holds."""
    with transaction.atomic():
        leases.fence(lease.name, lease.token)
        still_holds.check(result, before)
        cycle = _cycle(result, lease, timing)
        store_platforms(result.state, before, result.at)
        causes = store_history(result, before, cycle)
        if result.status == "ok":
            store_slices(result, before, causes)
            _lose_tasks(result)
            store_groups(result, before, cycle)
            store_hints(result, before)
            sending.enqueue(result)
        cycle.duration_ms = (time.monotonic() - timing.began) * 1000
        cycle.save(update_fields=["duration_ms"])
    return cycle


def _lose_tasks(result: CycleResult) -> None:
    """The tasks of the slices that were lost wait again, as the plan has counted them."""
    if any(action.kind is ActionKind.SLICE_LOST for action in result.actions):
        told = Told()
        lose(moment(result.at), told)
        told.publish()


def _cycle(result: CycleResult, lease: leases.Held, timing: Timing) -> Cycle:
    return Cycle.objects.create(
        started_at=timing.started_at,
        status=result.status.value,
        reason=result.reason,
        plan_ms=timing.plan_ms,
        fencing_token=lease.token,
        counts=_counts(result),
    )


def _counts(result: CycleResult) -> dict[str, int]:
    released = sum(len(evaluation.scale_down) for evaluation in result.evaluations.values())
    return {
        "requested": sum(evaluation.scale_up for evaluation in result.evaluations.values()),
        "released": released,
        "deferred": sum(result.deferred.values()),
        "hints": len(result.hints),
        "slices": len(result.state.slices),
        "backoff_skipped": result.backoff_skipped,
    }
