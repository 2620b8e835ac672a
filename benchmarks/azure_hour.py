"""A real hour of requests to a language model, in virtual time, through the replica decision as it runs live.

The Azure trace's arrivals, each counted four times, meet one deployment that begins with 1 replica and may have 10.
Every 5 s of the hour the decision sees the replicas and the metrics of the last minute, and its calls are carried out.
A fixed fleet of equally many replica-hours gets the same requests. Prints replica-hours, time above target, actions and
reversals; the same seed prints the same. Exits 1 with fewer than four scale-ups, with two reversals within one
stabilisation window, or when more time was above target than in the fixed fleet. Reads IRIS_DATA (default
../shared/data).

    .venv/bin/python -m benchmarks.azure_hour [--seed N] [--quiet]
"""

import argparse
import math
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from scaling.replicas.answer import apply_answer
from scaling.replicas.decide import TICK_SECONDS, decide
from scaling.replicas.decision import Decision, Outcome
from scaling.replicas.deployment import Deployment
from scaling.replicas.fleet import check_fleet
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica
from scaling.testing.fleet.fleet import Fleet, smoothed
from scaling.testing.fleet.histogram import EMPTY, added, observed, quantile
from scaling.testing.fleet.history import History
from scaling.testing.fleet.latency import ReplicaModel
from scaling.testing.fleet.load import TRACE_FILE, TraceLoad, read_trace
from scaling.testing.fleet.spec import Behaviour, DeploymentSpec

DATA = Path(os.environ.get("IRIS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
NAME = "azure"
LOAD_SCALE = 4
RATE_WINDOW_SECONDS = 60
LEAST_SCALE_UPS = 4
LEAST_PEAK = 6
SETTINGS = Deployment(NAME, min_replicas=1, max_replicas=10, target_latency_p95_ms=500, target_rps=3.5)
MODEL = ReplicaModel(service_ms=150, capacity_rps=3.5)
BEHAVIOUR = Behaviour(warmup_seconds=30)


@dataclass(frozen=True, slots=True)
class Act:
    """One call of the hour, with what the decision said of it."""

    at: float
    add: int
    stop: int
    reason: str


@dataclass(slots=True)
class AboveTarget:
    """Seconds in which the p95 of the last minute was known, and in which it was above the target."""

    known: int = 0
    above: int = 0

    def look(self, p95_ms: float | None) -> None:
        if p95_ms is not None and not math.isnan(p95_ms):
            self.known += 1
            self.above += p95_ms > (SETTINGS.target_latency_p95_ms or math.inf)

    @property
    def share(self) -> float:
        return self.above / self.known if self.known else 0.0


@dataclass(slots=True)
class Hour:
    """What came of it; `replica_seconds` counts every replica that was there, warming ones too."""

    seconds: int
    acts: list[Act] = field(default_factory=list)
    above: AboveTarget = field(default_factory=AboveTarget)
    replica_seconds: int = 0
    peak: int = 0

    @property
    def replicas(self) -> float:
        """The replicas of a fixed fleet of equally many replica-hours; it may be a fraction."""
        return self.replica_seconds / self.seconds

    @property
    def scale_ups(self) -> int:
        return sum(act.add > 0 for act in self.acts)

    @property
    def reversals(self) -> list[float]:
        """When an act went the other way than the one before it."""
        return [later.at for earlier, later in pairwise(self.acts) if (earlier.add > 0) != (later.add > 0)]

    @property
    def most_reversals(self) -> int:
        """The most reversals within any one stabilisation window."""
        times, window = self.reversals, SETTINGS.stabilization_window_seconds
        return max((sum(start <= at < start + window for at in times) for start in times), default=0)


class Scaled:
    """The deployment under the replica decision."""

    def __init__(self, load: TraceLoad, seed: int) -> None:
        spec = DeploymentSpec(NAME, load, replica=MODEL, behaviour=BEHAVIOUR)
        self.fleet = Fleet([spec], began=0, seed=seed)
        self.history = History()
        self.deployment = self.fleet.find(NAME)
        self._memory = ScalerMemory()
        self._seen_healthy: set[str] = set()
        (first,) = self.fleet.scale(NAME, 1, ())
        self.deployment.replicas[first].warm_at = 0

    def p95_ms(self, now: float) -> float | None:
        return dict(self.history.p95(now, RATE_WINDOW_SECONDS)).get(NAME)

    def tick(self, now: float) -> Decision:
        """Look, decide, and have it carried out."""
        seen = [
            Replica(it.id, it.status, it.healthy, it.created, it.last_health_check, it.id in self._seen_healthy)
            for it in self.deployment.replicas.values()
        ]
        self._seen_healthy |= {replica.id for replica in seen if replica.healthy}
        rps = dict(self.history.rps(now, RATE_WINDOW_SECONDS)).get(NAME)
        reading = MetricsReading(MetricSample(self.p95_ms(now), now), MetricSample(rps, now))
        decision = decide(SETTINGS, seen, reading, self._memory, now, fleet=check_fleet(seen, now))
        self._memory = apply_answer(self._memory, decision, Outcome.OK if decision.sent else Outcome.NOT_SENT, now)
        if decision.sent:
            self.fleet.scale(NAME, decision.add, decision.stop)
        return decision


def run_scaled(times: Sequence[float], seed: int) -> Hour:
    """The whole trace, second by second, with a decision every 5 s."""
    hour = Hour(seconds=int(times[-1]))
    scaled = Scaled(TraceLoad(times, scale=LOAD_SCALE), seed)
    for now in range(1, hour.seconds + 1):
        scaled.fleet.advance(now)
        scaled.history.record(scaled.fleet)
        hour.above.look(scaled.p95_ms(now))
        hour.replica_seconds += len(scaled.deployment.replicas)
        if now % TICK_SECONDS == 0:
            decision = scaled.tick(now)
            if decision.sent:
                hour.acts.append(Act(now, decision.add, len(decision.stop), decision.reason))
        hour.peak = max(hour.peak, len(scaled.deployment.replicas))
    return hour


def run_fixed(times: Sequence[float], replicas: float, seed: int) -> AboveTarget:
    """The same requests, always shared by `replicas` healthy ones."""
    load, chance = TraceLoad(times, scale=LOAD_SCALE), random.Random(seed)
    above, felt, counters = AboveTarget(), 0.0, [EMPTY]
    for now in range(1, int(times[-1]) + 1):
        requests = load.arrivals(now - 1, now)
        felt = smoothed(felt, requests, 1, BEHAVIOUR.felt_seconds)
        counters.append(added(counters[-1], observed(requests, MODEL.shares(felt / replicas), chance.random())))
        # As a query for the last minute sees it: from the first sample in (now - 60, now] to the latest.
        before = counters[max(1, now - RATE_WINDOW_SECONDS + 1)]
        above.look(quantile(0.95, [late - early for late, early in zip(counters[now], before, strict=True)]))
    return above


def misses(hour: Hour, fixed: AboveTarget) -> list[str]:
    """The bounds that were not kept, each in words."""
    rules = (
        (hour.peak < LEAST_PEAK, f"only {hour.peak} replicas were needed at the peak, not {LEAST_PEAK}"),
        (hour.scale_ups < LEAST_SCALE_UPS, f"{hour.scale_ups} scale-ups, fewer than {LEAST_SCALE_UPS}"),
        (hour.most_reversals > 1, f"{hour.most_reversals} reversals within one stabilisation window"),
        (hour.above.share > fixed.share, "more time above target than the fixed fleet"),
    )
    return [words for is_missed, words in rules if is_missed]


def report(hour: Hour, fixed: AboveTarget, seed: int) -> list[str]:
    return [
        f"azure_hour: {hour.seconds} s, requests ×{LOAD_SCALE}, from 1 replica, seed {seed}",
        f"replica-hours {hour.replica_seconds / 3600:.2f}, on average {hour.replicas:.2f} replicas, peak {hour.peak}",
        f"time above target {hour.above.share:.1%}; a fixed fleet of equal replica-hours {fixed.share:.1%}",
        f"{len(hour.acts)} actions: {hour.scale_ups} up, {len(hour.acts) - hour.scale_ups} down, "
        f"{len(hour.reversals)} reversals, at most {hour.most_reversals} within a stabilisation window",
    ]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--quiet", action="store_true", help="leave out the single actions")
    given = options.parse_args()
    trace = DATA / TRACE_FILE
    if not trace.is_file():
        print(f"{trace}: not there; set IRIS_DATA to the folder with the traces")
        return 2
    times = read_trace(trace)
    hour = run_scaled(times, given.seed)
    fixed = run_fixed(times, hour.replicas, given.seed)
    if not given.quiet:
        for act in hour.acts:
            print(
                f"{act.at:6.0f} s  {act.add:+d}" if act.add else f"{act.at:6.0f} s  -{act.stop}", act.reason, sep="  "
            )
    print("\n".join(report(hour, fixed, given.seed)))
    missed = misses(hour, fixed)
    print(f"missed: {'; '.join(missed)}" if missed else "every bound was kept")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
