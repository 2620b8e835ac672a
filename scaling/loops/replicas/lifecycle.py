"""The lifecycle loop: idle deployments to zero by the zero rule, and replicas given up after too long unhealthy.

One leader at a time. It acts through the same rows as the scaler: whoever saves the memory first may call, the other
one looks again in its next round.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from scaling import clock, feed
from scaling.history import NewAction, record_many
from scaling.loops import holders, leases
from scaling.loops.replicas import buckets, roster, telling
from scaling.loops.replicas import held as scalers
from scaling.loops.replicas.deadlines import Deadline
from scaling.loops.replicas.fleet_check import whole_check
from scaling.loops.replicas.fleet_reading import Fleet, read_both
from scaling.loops.replicas.held import HeldScaler
from scaling.loops.replicas.outcome import Ticked, answered, pending_call
from scaling.loops.replicas.scaler import RESERVE_SECONDS, SAVING_SECONDS
from scaling.lyc_settings import TICK_TIMEOUT_SECONDS
from scaling.models import CrashedReplica, Scaler
from scaling.replicas.answer import apply_answer
from scaling.replicas.decide import decide
from scaling.replicas.decision import Gate, Outcome, Step
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.replica import ReplicaClass
from scaling.replicas.stored import memory_to_mapping
from scaling.sources import configured
from scaling.sources.gateway import ScaleCall
from scaling.sources.prometheus import MetricsAnswer

logger = logging.getLogger("scaling.replicas")

LEASE = "lifecycle"
# What a scaler saw counts for so many ticks.
TICKS_TO_BE_KNOWN = 3


def run(now: datetime) -> None:
    """One round of the leader; nothing where another process leads."""
    lease = holders.take(LEASE, settings.LYC.lifecycle_ttl_seconds, now)
    if lease is None:
        return
    try:
        deadline = Deadline(TICK_TIMEOUT_SECONDS)
        give_up_unhealthy(lease, now)
        take_last(lease, now, deadline)
        buckets.learn(now, deadline)
    except leases.LeaseLost as lost:
        logger.warning("lifecycle round not stored", extra={"reason": str(lost)})
    finally:
        leases.release(lease)


def give_up_unhealthy(lease: leases.Held, now: datetime) -> None:
    """Mark replicas that have been unhealthy for longer than the threshold; the next tick treats them as failed."""
    known = set(CrashedReplica.objects.values_list("deployment_id", "replica_id"))
    long_ago = now.timestamp() - settings.LYC.crashed_threshold_seconds
    marks = [
        CrashedReplica(deployment_id=deployment, replica_id=one.id, at=now)
        for deployment, replicas in _seen_lately(now)
        for one in roster.stored(replicas)
        if one.class_ == ReplicaClass.UNHEALTHY and one.since <= long_ago and (deployment, one.id) not in known
    ]
    _forget_listed_no_more(known)
    if not marks:
        return
    ids = {mark.deployment_id for mark in marks}
    names = dict(Scaler.objects.filter(deployment_id__in=ids).values_list("deployment_id", "deployment__deployment_id"))
    with transaction.atomic():
        leases.fence(LEASE, lease.token)
        CrashedReplica.objects.bulk_create(marks, ignore_conflicts=True)
        Scaler.objects.filter(deployment_id__in=ids).update(lifecycle_acted_at=now)
        threshold = settings.LYC.crashed_threshold_seconds
        record_many(
            [
                NewAction(
                    "replica_crashed",
                    target=f"deployment {names[mark.deployment_id]}",
                    reason=f"replica {mark.replica_id} has been unhealthy for more than {threshold:g} s",
                    at=now,
                )
                for mark in marks
            ]
        )
        feed.publish_many([feed.NewEvent(f"deployment:{name}", "crashed", {"id": name}) for name in names.values()])


def _seen_lately(now: datetime) -> Iterable[tuple[int, list[list[Any]]]]:
    """(deployment, its replicas) where a tick has just seen them and could believe what it saw."""
    lately = now - timedelta(seconds=TICKS_TO_BE_KNOWN * settings.LYC.heartbeat_interval_seconds + TICK_TIMEOUT_SECONDS)
    rows = _free_to_act(now).filter(ticked_at__gt=lately).exclude(latest__gate=Gate.FLEET_UNKNOWN.value)
    return rows.values_list("deployment_id", "replicas")


def _forget_listed_no_more(known: set[tuple[int, str]]) -> None:
    """Marks of replicas that are no longer there serve nobody."""
    if not known:
        return
    rows = Scaler.objects.filter(deployment_id__in={deployment for deployment, _ in known})
    listed = {(id_, one[0]) for id_, replicas in rows.values_list("deployment_id", "replicas") for one in replicas}
    for deployment, replica in known - listed:
        CrashedReplica.objects.filter(deployment_id=deployment, replica_id=replica).delete()


def take_last(lease: leases.Held, now: datetime, deadline: Deadline) -> None:
    """The zero rule (REPLICAS section 3) for the deployments that may go to zero and have one replica left."""
    one_left = _free_to_act(now).filter(latest__healthy=1, latest__warming=0, deployment__wanted_replicas=None)
    held = [one for one in scalers.read(one_left) if one.settings.floor == 0]
    if not held:
        return
    fleet, metrics = read_both([one.id for one in held], now.timestamp(), deadline.left(RESERVE_SECONDS))
    at = clock.now()
    ticks = [one for one in _decide_all(held, fleet, metrics, at) if one.decision.step is Step.ZERO]
    with transaction.atomic():
        leases.fence(LEASE, lease.token)
        sent = [one for one in ticks if _claim(one, at)]
    if sent:
        _call(sent, deadline)


def _free_to_act(now: datetime) -> QuerySet[Scaler]:
    """At most one act for each deployment in a cooldown of this loop's own."""
    rested = now - timedelta(seconds=settings.LYC.lifecycle_cooldown_seconds)
    return Scaler.objects.filter(
        Q(lifecycle_acted_at__isnull=True) | Q(lifecycle_acted_at__lte=rested), deployment__gone_at=None
    )


def _decide_all(held: Sequence[HeldScaler], fleet: Fleet, metrics: MetricsAnswer, at: datetime) -> list[Ticked]:
    check = whole_check(fleet, held, at.timestamp())
    return [one for scaler in held if (one := _decide(scaler, fleet, check, metrics, at)) is not None]


def _decide(
    one: HeldScaler, fleet: Fleet, check: FleetCheck | None, metrics: MetricsAnswer, at: datetime
) -> Ticked | None:
    listed = fleet.listed.get(one.id)
    if listed is None or listed.replicas is None:
        return None
    fresh_from = at.timestamp() - one.settings.health_check_seconds
    replicas = roster.with_memory(listed.replicas, one.row.replicas, one.crashed, fresh_from)
    current = replace(one.settings, status=listed.status, last_request_at=listed.last_request_at)
    decision = decide(
        current,
        replicas,
        metrics.readings[one.id],
        one.memory,
        at.timestamp(),
        fleet=check,
        tick_seconds=settings.LYC.heartbeat_interval_seconds,
    )
    return Ticked(replace(one, settings=current), replicas, decision)


def _claim(one: Ticked, at: datetime) -> bool:
    """Write the call down as done before it is sent; False where the scaler was first."""
    mine = Scaler.objects.filter(pk=one.row.pk, memory_version=one.row.memory_version, pending__isnull=True)
    if not _write(mine, one, Outcome.TIMEOUT, at, pending_call(one, at)):
        return False
    telling.record_intents([one], at)
    return True


def _write(
    rows: QuerySet[Scaler], one: Ticked, outcome: Outcome, at: datetime, pending: dict[str, Any] | None = None
) -> int:
    memory = apply_answer(one.held.memory, one.decision, outcome, at.timestamp())
    stored = memory_to_mapping(memory)
    zero_by = stored.pop("zero_by") or ""
    return rows.update(
        memory=stored,
        zero_by=zero_by,
        memory_version=F("memory_version") + 1,
        lifecycle_acted_at=at,
        pending=pending,
    )


def _call(sent: Sequence[Ticked], deadline: Deadline) -> None:
    """POST the removals and keep what came back."""
    calls = [ScaleCall(one.held.id, one.decision.add, one.decision.stop) for one in sent]
    answers = configured.gateway().scale_all(calls, deadline.left(SAVING_SECONDS))
    at = clock.now()
    for one, answer in zip(sent, answers, strict=True):
        answered(one, answer.outcome, answer.message)
        one.tell = True
    with transaction.atomic():
        for one in sent:
            claimed = Scaler.objects.filter(pk=one.row.pk, memory_version=one.row.memory_version + 1)
            _write(claimed, one, one.decision.outcome, at)
        telling.record_answers(sent, at)
        telling.store_decisions(sent)
