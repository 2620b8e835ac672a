"""Processor time of 5,000 replica decisions: `python -m benchmarks.replicas_decide [deployments]`."""

import gc
import random
import statistics
import sys
import time

from scaling.replicas.answer import apply_answer
from scaling.replicas.decide import decide
from scaling.replicas.decision import Outcome
from scaling.replicas.deployment import Deployment
from scaling.replicas.fleet import check_fleet
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica
from scaling.replicas.window import WindowEntry, compact

DEPLOYMENTS = 5_000
ROUNDS = 5
NOW = 1_700_000_000.0

Case = tuple[Deployment, list[Replica], MetricsReading, ScalerMemory]


def make_cases(deployments: int, seed: int = 1) -> list[Case]:
    """Deployments of 1 to 12 replicas under mixed load, each with the window of the last five minutes as stored."""
    chance = random.Random(seed)
    return [_case(chance, index) for index in range(deployments)]


def _case(chance: random.Random, index: int) -> Case:
    size = chance.randint(1, 12)
    replicas = [
        Replica(f"r{number}", "running", chance.random() < 0.9, NOW - chance.uniform(0, 90_000), NOW - 3)
        for number in range(size)
    ]
    reading = MetricsReading(
        p95=MetricSample(chance.uniform(100, 900), NOW - 2), rps=MetricSample(chance.uniform(0, 100), NOW - 2)
    )
    window = tuple(WindowEntry(NOW - 5 * age, chance.randint(1, size)) for age in range(60, 0, -1))
    deployment = Deployment(f"d{index}", 1, 20, target_latency_p95_ms=500, target_rps=10, last_request_at=NOW - 1)
    return deployment, replicas, reading, ScalerMemory(window=compact(window), first_healthy_at=NOW - 7200)


def one_round(cases: list[Case]) -> tuple[float, int]:
    """Processor seconds for the fleet check, every decision and every answer; and how many calls that makes."""
    gc.collect()
    started = time.process_time()
    fleet = check_fleet((replica for _, replicas, _, _ in cases for replica in replicas), NOW)
    calls = 0
    for deployment, replicas, reading, memory in cases:
        decision = decide(deployment, replicas, reading, memory, NOW, fleet=fleet)
        after = apply_answer(memory, decision, Outcome.OK, NOW)
        compact(after.window or ())
        calls += decision.sent
    return time.process_time() - started, calls


def main() -> None:
    deployments = int(sys.argv[1]) if len(sys.argv) > 1 else DEPLOYMENTS
    cases = make_cases(deployments)
    rounds = [one_round(cases) for _ in range(ROUNDS)]
    seconds = [taken for taken, _ in rounds]
    print(
        f"replicas_decide: {deployments} decisions, median {statistics.median(seconds):.3f} s, "
        f"worst {max(seconds):.3f} s, {statistics.median(seconds) / deployments * 1e6:.0f} us each, "
        f"{rounds[-1][1]} calls"
    )


if __name__ == "__main__":
    main()
