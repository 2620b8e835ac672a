"""What the program is told at its start, and the deployments that makes."""

import argparse
import math
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scaling.testing.fleet.latency import ReplicaModel
from scaling.testing.fleet.load import TRACE_FILE, CurveLoad, TraceLoad
from scaling.testing.fleet.spec import Behaviour, DeploymentSpec

ROOT = Path(__file__).resolve().parents[3]
DAY_SECONDS = 3600.0
TRACE_SCALE = 4.0
MOST_DEPLOYMENTS = 20_000


@dataclass(frozen=True, slots=True)
class Options:
    """Durations in seconds. None leaves to each deployment what the demonstration gives it.

    `speed` makes time-lapse of the load: the same curve of requests per second in a fraction of its time.
    """

    host: str
    port: int
    state_dir: Path
    deployments: int
    speed: float
    seed: int
    virtual: bool
    tick_seconds: float
    trace: Path
    replicas: int | None
    load_scale: float
    warmup: float | None
    fails_every: float
    with_parent: bool
    settings: dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8090, help="port to listen on, 0 = any free one (default: 8090)")
    parser.add_argument("--state-dir", type=Path, required=True, help="folder for what outlives a restart")
    parser.add_argument("--deployments", type=int, default=4, help="how many (default: 4)")
    parser.add_argument("--speed", type=float, default=1.0, help="time-lapse of the load (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same load (default: 1)")
    parser.add_argument("--virtual", action="store_true", help="no process for each replica: for thousands")
    parser.add_argument("--tick", type=float, help="seconds between two steps (default: 1, with --virtual 5)")
    parser.add_argument(
        "--trace", type=Path, help=f"requests of the first deployment (default: IRIS_DATA/{TRACE_FILE})"
    )
    parser.add_argument("--replicas", type=int, help="replicas of each deployment at first")
    parser.add_argument("--load-scale", type=float, default=1.0, help="times as many requests (default: 1)")
    parser.add_argument("--warmup", type=float, help="seconds until a new replica serves")
    parser.add_argument("--fails-every", type=float, default=0.0, help="mean seconds until a replica fails, 0 = never")
    parser.add_argument("--with-parent", action="store_true", help="end when the process that started it has ended")
    for name, (kind, words) in _SETTINGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N", help=f"{words}, of every deployment")


_SETTINGS: dict[str, tuple[type, str]] = {
    "min_replicas": (int, "fewest replicas"),
    "max_replicas": (int, "most replicas"),
    "target_latency_p95_ms": (float, "target of the p95 latency in ms"),
    "target_rps": (float, "target of requests per second and replica"),
    "stabilization_window": (float, "stabilisation window in seconds"),
    "cooldown": (float, "cooldown in seconds"),
}


def read_options(given: dict[str, Any]) -> Options:
    """From parsed arguments; raises ValueError, one sentence, for what cannot work."""
    if not 0 <= given["deployments"] <= MOST_DEPLOYMENTS:
        raise ValueError(f"--deployments: expected 0 to {MOST_DEPLOYMENTS}, got {given['deployments']}")
    for name in ("speed", "load_scale", "tick"):
        value = given[name]
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"--{name.replace('_', '-')}: expected a number above 0, got {value}")
    data = Path(os.environ.get("IRIS_DATA") or ROOT.parent / "shared" / "data")
    return Options(
        host=given["host"],
        port=given["port"],
        state_dir=given["state_dir"],
        deployments=given["deployments"],
        speed=given["speed"],
        seed=given["seed"],
        virtual=given["virtual"],
        tick_seconds=given["tick"] or (5.0 if given["virtual"] else 1.0),
        trace=given["trace"] or data / TRACE_FILE,
        replicas=given["replicas"],
        load_scale=given["load_scale"],
        warmup=given["warmup"],
        fails_every=given["fails_every"],
        with_parent=given["with_parent"],
        settings={name: given[name] for name in _SETTINGS if given[name] is not None},
    )


def make_specs(options: Options, trace: Sequence[float] | None) -> list[DeploymentSpec]:
    """The deployments: the demonstration's four first, then any number drawn by the seed.

    Without a trace the first one gets a curve instead.
    """
    made = [] if options.virtual else _demonstration(options, trace)
    specs = [*made, *(_drawn(options, number) for number in range(len(made) + 1, options.deployments + 1))]
    return [_with_settings(spec, options) for spec in specs[: options.deployments]]


def first_replicas(spec: DeploymentSpec, options: Options) -> int:
    """How many replicas a deployment begins with: as told, else one, and in the virtual mode what its load needs."""
    if options.replicas is not None:
        return options.replicas
    if options.virtual and isinstance(spec.load, CurveLoad):
        return max(spec.min_replicas, math.ceil(spec.load.mean / (spec.target_rps or 1)))
    return max(1, spec.min_replicas)


def _demonstration(options: Options, trace: Sequence[float] | None) -> list[DeploymentSpec]:
    day, scale, seed = DAY_SECONDS / options.speed, options.load_scale, options.seed
    code: TraceLoad | CurveLoad = CurveLoad(10 * scale, seed, day, burst=4, burst_every=6)
    if trace:
        code = TraceLoad(trace, options.speed, TRACE_SCALE * scale / options.speed)
    return [
        DeploymentSpec(
            "code-assistant",
            code,
            max_replicas=10,
            target_rps=3.5,
            replica=ReplicaModel(service_ms=150, capacity_rps=3.5),
        ),
        DeploymentSpec(
            "chat",
            CurveLoad(18 * scale, seed + 1, day, phase=0.1),
            min_replicas=2,
            target_latency_p95_ms=1000,
            target_rps=4,
            replica=ReplicaModel(service_ms=300, capacity_rps=4),
        ),
        DeploymentSpec(
            "embeddings",
            CurveLoad(50 * scale, seed + 2, day, phase=0.5, burst=3),
            max_replicas=8,
            target_latency_p95_ms=150,
            target_rps=20,
            replica=ReplicaModel(service_ms=45, capacity_rps=20),
        ),
        DeploymentSpec(
            "nightly-summaries",
            CurveLoad(1.5 * scale, seed + 3, day, phase=0.75, swing=1),
            min_replicas=0,
            max_replicas=4,
            target_latency_p95_ms=4000,
            target_rps=None,
            replica=ReplicaModel(service_ms=1200, capacity_rps=1, slowest_ms=9000),
        ),
    ]


def _drawn(options: Options, number: int) -> DeploymentSpec:
    chance = random.Random(options.seed * 1_000_003 + number)
    load = CurveLoad(
        mean=chance.uniform(4, 24) * options.load_scale,
        seed=options.seed + number,
        day_seconds=DAY_SECONDS / options.speed,
        phase=chance.random(),
        swing=chance.uniform(0.1, 0.5),
        burst_every=40,
    )
    return DeploymentSpec(f"deployment-{number:04d}", load, target_rps=6, replica=ReplicaModel(capacity_rps=6))


def _with_settings(spec: DeploymentSpec, options: Options) -> DeploymentSpec:
    warmup = spec.behaviour.warmup_seconds if options.warmup is None else options.warmup
    felt = spec.behaviour.felt_seconds / options.speed
    behaviour = Behaviour(warmup, spec.behaviour.drain_seconds, options.fails_every, felt)
    return replace(spec, name=spec.id, behaviour=behaviour, **options.settings)
