"""The scaler: one tick of every deployment that an instance holds (REPLICAS section 3), in bulk."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.db import transaction

from scaling import clock, feed
from scaling.loops.replicas import held as scalers
from scaling.loops.replicas import orders, saving, source_states, telling
from scaling.loops.replicas.collecting import collected_afterwards
from scaling.loops.replicas.deadlines import Deadline
from scaling.loops.replicas.fleet_check import whole_check
from scaling.loops.replicas.fleet_reading import Fleet, read_both
from scaling.loops.replicas.held import HeldScaler
from scaling.loops.replicas.outcome import Ticked, answered, is_under_way, pending_call, update_for
from scaling.loops.replicas.roster import with_memory
from scaling.lyc_settings import TICK_TIMEOUT_SECONDS
from scaling.models import Scaler
from scaling.replicas.decide import decide
from scaling.replicas.decision import Outcome
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.manual import carry_out
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.sources import configured
from scaling.sources.gateway import ScaleCall
from scaling.sources.prometheus import MetricsAnswer

logger = logging.getLogger("scaling.replicas")

# Of a tick's time this much stays for the calls and for writing down what came of them.
RESERVE_SECONDS = 3.0
SAVING_SECONDS = 1.0
_NOT_ASKED = MetricsReading(MetricSample(error="not asked for"), MetricSample(error="not asked for"))


def run(now: datetime, instance: str) -> None:
    """One tick of the instance: renew, read, decide, write down, call, write down what came of it."""
    with collected_afterwards():
        _tick(now, instance)


def _tick(now: datetime, instance: str) -> None:
    deadline = Deadline(TICK_TIMEOUT_SECONDS)
    if not scalers.renew(instance, now):
        return
    held = [one for one in scalers.read(scalers.of_instance(instance, now)) if not _waits(one, now)]
    fleet, metrics = read_both([one.id for one in held], now.timestamp(), deadline.left(RESERVE_SECONDS))
    _note_sources(fleet, metrics)
    decided_at = clock.now()
    ticks = decide_all(held, fleet, metrics, decided_at)
    sent = _before_calls(ticks, instance, decided_at)
    if sent:
        _call(sent, deadline)
        _after_calls(sent, instance)
    _tell(ticks, instance, decided_at)


def _waits(one: HeldScaler, now: datetime) -> bool:
    """A deployment whose call is still under way, the lifecycle's or a slow tick's, is left to the next tick."""
    return is_under_way(one.row.pending, now.timestamp())


def decide_all(held: Sequence[HeldScaler], fleet: Fleet, metrics: MetricsAnswer, at: datetime) -> list[Ticked]:
    """Decide every deployment on one picture of the fleet."""
    now = at.timestamp()
    check = whole_check(fleet, held, now)
    return [_decide(one, fleet, check, metrics.readings.get(one.id, _NOT_ASKED), now) for one in held]


def _decide(held: HeldScaler, fleet: Fleet, check: FleetCheck | None, reading: MetricsReading, now: float) -> Ticked:
    listed = fleet.listed.get(held.id)
    replicas = None
    if listed is not None and listed.replicas is not None:
        fresh_from = now - held.settings.health_check_seconds
        replicas = with_memory(listed.replicas, held.row.replicas, held.crashed, fresh_from)
    current = held.settings
    if listed is not None and (current.status, current.last_request_at) != (listed.status, listed.last_request_at):
        # The list of this very tick is newer than the syncer's.
        current = replace(current, status=listed.status, last_request_at=listed.last_request_at)
    order = orders.order_of(held, now)
    decision = decide(
        orders.unpaused(current, order),
        replicas,
        reading,
        held.memory,
        now,
        fleet=check,
        tick_seconds=settings.LYC.heartbeat_interval_seconds,
        takes_last=False,
    )
    if order is not None and replicas is not None:
        decision = carry_out(order, decision, current, replicas, held.memory)
    return Ticked(held if current is held.settings else replace(held, settings=current), replicas, decision)


def _before_calls(ticks: Sequence[Ticked], instance: str, at: datetime) -> list[Ticked]:
    """Save every tick, with its call as an intent; returns those whose call may now be sent.

    A deployment that somebody else changed or took since it was read is left to the next tick.
    """
    calling = [one for one in ticks if one.decision.sent]
    _find_repeated(calling)
    quiet = [one for one in ticks if not one.decision.sent]
    telling.choose_told(quiet, at, settings.LYC.heartbeat_interval_seconds)
    with transaction.atomic():
        quiet_ids = _save(quiet, Outcome.NOT_SENT, instance, at)
        sent_ids = _save(calling, Outcome.TIMEOUT, instance, at)
        sent = [one for one in calling if one.row.pk in sent_ids]
        kept = [one for one in quiet if one.row.pk in quiet_ids]
        telling.record_unknown([(one.held.id, one.row.pending) for one in (*kept, *sent) if one.row.pending], at)
        telling.record_intents(sent, at)
        telling.store_decisions(kept)
        telling.store_samples([*kept, *sent], at)
    return sent


def _find_repeated(calling: Sequence[Ticked]) -> None:
    """Which calls were refused in the tick before, just so."""
    rows = Scaler.objects.filter(pk__in=[one.row.pk for one in calling]) if calling else Scaler.objects.none()
    latest = dict(rows.values_list("pk", "latest"))
    for one in calling:
        before = latest.get(one.row.pk, {})
        one.repeated = telling.is_repeated(one.decision, before)
        one.action_id = before.get("action_id") if one.repeated else None


def _save(ticks: Sequence[Ticked], outcome: Outcome, instance: str, at: datetime) -> set[int]:
    updates = [update_for(one, outcome, at.timestamp(), pending_call(one, at)) for one in ticks]
    return saving.save(updates, instance, at, clock.now())


def _call(sent: Sequence[Ticked], deadline: Deadline) -> None:
    """POST what was decided, concurrently and within the time left."""
    calls = [ScaleCall(one.held.id, one.decision.add, one.decision.stop) for one in sent]
    answers = configured.gateway().scale_all(calls, deadline.left(SAVING_SECONDS))
    for one, answer in zip(sent, answers, strict=True):
        answered(one, answer.outcome, answer.message)


def _after_calls(sent: Sequence[Ticked], instance: str) -> None:
    """Keep what came back. Where somebody wrote the row meanwhile the intent stands: the call counts as done."""
    at = clock.now()
    telling.choose_told(sent, at, settings.LYC.heartbeat_interval_seconds)
    with transaction.atomic():
        updates = [update_for(one, one.decision.outcome, at.timestamp(), None, written=1) for one in sent]
        saved = saving.save(updates, instance, at, at)
        _forget_calls([one for one in sent if one.row.pk not in saved], instance)
        telling.record_answers(sent, at)
        telling.store_decisions(sent)


def _forget_calls(overtaken: Sequence[Ticked], instance: str) -> None:
    """The calls of rows that somebody wrote meanwhile are answered; another's call is not this one's to forget."""
    for one in overtaken:
        mine = Scaler.objects.filter(pk=one.row.pk, token=one.row.token, holder=instance)
        mine.filter(pending__at=one.decision.at).update(pending=None)


def _note_sources(fleet: Fleet, metrics: MetricsAnswer) -> None:
    at = clock.now()
    trouble = fleet.trouble or (fleet.problems[0] if fleet.problems else "")
    # What the syncer doubts about the list is the syncer's to take back.
    source_states.note(source_states.GATEWAY, at, trouble, warnings=None)
    stand_in = settings.LYC.prometheus_stand_in
    source_states.note(source_states.PROMETHEUS, at, metrics.error, metrics.warnings, stand_in)


def _tell(ticks: Sequence[Ticked], instance: str, at: datetime) -> None:
    orders.close_reached(ticks, at)
    feed.publish("deployments", "tick", {"instance": instance, "deployments": len(ticks)}, at=at)
