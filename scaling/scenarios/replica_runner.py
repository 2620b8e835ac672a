"""Runs a replica scenario on a virtual clock, with the same decision that runs live."""

from dataclasses import dataclass, replace
from itertools import count

from scaling.replicas.answer import DONE, apply_answer
from scaling.replicas.decide import decide
from scaling.replicas.decision import Decision, Outcome
from scaling.replicas.deployment import Deployment
from scaling.replicas.fleet import check_fleet
from scaling.replicas.memory import ScalerMemory, not_yet_listed
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Counts, Replica, ReplicaClass, classify, muster, since
from scaling.scenarios.replica_fleet import SimulatedFleet, make_fleet
from scaling.scenarios.replica_scenario import (
    GatewayAnswer,
    Metrics,
    ReplicaScenario,
    UnreadableReplicas,
    Value,
)
from scaling.scenarios.replica_timeline import Timeline

_OUTCOMES = {
    GatewayAnswer.OK: Outcome.OK,
    GatewayAnswer.ERROR: Outcome.REFUSED,
    GatewayAnswer.TIMEOUT: Outcome.TIMEOUT,
}


@dataclass(frozen=True, slots=True)
class ReplicaRun:
    """What came of a scenario: each tick's decision with its outcome, and the end.

    `counts` are those after the last tick's call, None where no list of replicas was ever given.
    """

    deployment: Deployment
    decisions: tuple[Decision, ...]
    counts: Counts | None
    memory: ScalerMemory


def run_scenario(scenario: ReplicaScenario) -> ReplicaRun:
    """Every tick of the scenario, in order."""
    run = _Run(scenario)
    times = [round(scenario.now + index * scenario.every, 6) for index in range(scenario.ticks)]
    decisions = tuple(run.tick(now) for now in times)
    return ReplicaRun(run.deployment, decisions, run.counts(times[-1]), run.memory)


class _Run:
    """The moving parts: which entries hold, what is remembered, which replicas there are.

    Every `replicas` block has its own fleet; calls change all that have begun, so that the one before is as it
    would be when a block with `for` ends.
    """

    def __init__(self, scenario: ReplicaScenario) -> None:
        self._scenario = scenario
        self._timeline = Timeline(scenario.timeline)
        self._fleets: dict[int | None, SimulatedFleet] = {}
        self._seen_healthy: frozenset[str] = frozenset()
        self._numbers = count(1)
        self.deployment = Deployment(**scenario.settings)
        self.memory = ScalerMemory(window=scenario.window, **scenario.memory)

    def tick(self, now: float) -> Decision:
        """Decide at `now`, let the Gateway answer, remember."""
        self._timeline.advance(now)
        self.deployment = Deployment(**{**self._scenario.settings, **self._timeline.settings})
        self.memory = self._timeline.changed_memory(self.memory)
        fleet, is_listed = self._fleet()
        replicas = fleet.seen_at(now, self._seen_healthy) if fleet and is_listed else None
        decision = decide(
            self.deployment,
            replicas,
            self._reading(now),
            self.memory,
            now,
            lease_held=self._lease_held(),
            fleet=check_fleet(replicas or (), now, self.deployment.health_check_seconds),
            tick_seconds=self._scenario.every,
        )
        outcome = _OUTCOMES[self._timeline.gateway] if decision.sent else Outcome.NOT_SENT
        self.memory = apply_answer(self.memory, decision, outcome, now)
        if outcome in DONE:
            self._carry_out(decision, now)
        self._remember_healthy(replicas or [], now)
        return replace(decision, outcome=outcome)

    def counts(self, now: float) -> Counts | None:
        """The replicas by class at `now`, those asked for and not yet listed included."""
        fleet, _ = self._fleet()
        if fleet is None:
            return None
        replicas = fleet.seen_at(now, self._seen_healthy)
        listed = frozenset(replica.id for replica in replicas)
        asked = not_yet_listed(self.memory.asked, listed, now)
        return muster(replicas, self.deployment, now, asked).counts

    def _fleet(self) -> tuple[SimulatedFleet | None, bool]:
        """The fleet there is, made at its block's first tick, and whether its list can be read."""
        blocks = [(entry.number, entry.at, entry.replicas) for entry in self._timeline.holding if entry.replicas]
        start = (None, self._scenario.now, self._scenario.replicas)
        is_listed = True
        for number, at, block in reversed([start, *blocks]):
            if isinstance(block, UnreadableReplicas):
                is_listed = False
                continue
            if number not in self._fleets:
                self._fleets[number] = make_fleet(
                    block, at, self._scenario.warmup_seconds, self.deployment, self._seen_healthy
                )
            return self._fleets[number], is_listed
        return None, False

    def _reading(self, now: float) -> MetricsReading:
        metrics = self._scenario.metrics
        is_down = False
        for entry in self._timeline.holding:
            metrics = entry.metrics or metrics
            is_down = is_down if entry.prometheus_down is None else entry.prometheus_down
        return MetricsReading(
            p95=_sample(metrics.p95_latency_ms, metrics, now),
            rps=_sample(metrics.rps, metrics, now),
            prometheus_down=is_down,
        )

    def _lease_held(self) -> bool:
        told = [it.lease_held for it in self._timeline.holding if it.lease_held is not None]
        return told[-1] if told else self._scenario.lease_held

    def _carry_out(self, decision: Decision, now: float) -> None:
        ids = [self._new_id() for _ in range(decision.add)]
        for fleet in self._fleets.values():
            fleet.stop(decision.stop)
            fleet.add(ids, now, self._scenario.warmup_seconds)

    def _new_id(self) -> str:
        names = (f"added-{number}" for number in self._numbers)
        return next(name for name in names if not any(name in fleet for fleet in self._fleets.values()))

    def _remember_healthy(self, replicas: list[Replica], now: float) -> None:
        times = since(self.deployment, now)
        healthy = (it.id for it in replicas if classify(it, times) is ReplicaClass.HEALTHY)
        self._seen_healthy = self._seen_healthy.union(healthy)


def _sample(value: float | Value | None, metrics: Metrics, now: float) -> MetricSample:
    is_error = value is Value.ERROR
    return MetricSample(
        value=None if isinstance(value, Value) else value,
        at=now - metrics.age,
        series=metrics.series,
        error="query error" if is_error else "",
        warnings=("partial answer",) if metrics.warnings else (),
    )
