"""Deployments for tests and for looking at pages: their scalers, ticks made by the real decision, samples, sources.

`fleet` makes one of everything that can be the case with a deployment, and as many steady ones as are asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.conf import settings

from scaling.models import Deployment, DeploymentSample, Instance, ReplicaDecision, Scaler, SourceState
from scaling.operations.deployment_fields import effective
from scaling.replicas.decide import decide
from scaling.replicas.decision import Outcome
from scaling.replicas.deployment import Deployment as Settings
from scaling.replicas.memory import ScalerMemory, ZeroBy
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.picture import picture_of
from scaling.replicas.replica import Replica, classify, since
from scaling.replicas.stored import decision_to_mapping, memory_to_mapping
from scaling.replicas.window import WindowEntry
from scaling.testing.builders import after, before

P95_QUERY = (
    "histogram_quantile(0.95, sum by (deployment_id, le) (rate(lyceum_inference_latency_millis_bucket"
    '{deployment_id=~"chat-1|chat-2"}[1m])))'
)
RPS_QUERY = 'sum by (deployment_id) (rate(lyceum_inference_latency_millis_count{deployment_id=~"chat-1|chat-2"}[1m]))'


def make_deployment(deployment_id: str, now: datetime, **fields: Any) -> Deployment:
    """A running deployment of 1 to 10 replicas with targets of 500 ms and 10 requests per second."""
    defaults = {
        "name": deployment_id.replace("-", " "),
        "min_replicas": 1,
        "max_replicas": 10,
        "target_latency_p95_ms": 500.0,
        "target_rps": 10.0,
        "first_seen_at": before(now, 86_400),
        "last_request_at": before(now, 1),
    }
    return Deployment.objects.create(deployment_id=deployment_id, **(defaults | fields))


def make_scaler(row: Deployment, now: datetime, **fields: Any) -> Scaler:
    """Its scaler, held by instance `iris-1` unless told otherwise; nothing was ticked yet."""
    defaults = {"holder": "iris-1", "token": 1, "expires_at": after(now, 25)}
    return Scaler.objects.update_or_create(deployment=row, defaults=defaults | fields)[0]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a tick meets: replicas by class, metrics (None = missing), and what the scaler remembers."""

    healthy: int = 4
    warming: int = 0
    unhealthy: int = 0
    failed: int = 0
    p95: float | None = 400.0
    rps: float | None = 36.0
    error: str = ""
    prometheus_down: bool = False
    listed: bool = True
    scaled_ago: float | None = None
    missing_for: float | None = None
    window: Sequence[tuple[float, int]] | None = ()
    zero_by: ZeroBy | None = None
    outcome: Outcome = Outcome.OK


def replicas_of(scene: Scene, now: float) -> list[Replica]:
    """Its replicas: `healthy-1` is the oldest of the healthy ones, and so on."""

    def some(kind: str, count: int, age: float, **fields: Any) -> list[Replica]:
        defaults = {"last_health_check": now - 8, "was_healthy": True} | fields
        return [Replica(f"{kind}-{n + 1}", created=now - age + 60 * n, **defaults) for n in range(count)]

    return [
        *some("healthy", scene.healthy, 20_000, healthy=True),
        *some("warming", scene.warming, 90, was_healthy=False, status="pending", last_health_check=None),
        *some("unhealthy", scene.unhealthy, 15_000, last_health_check=now - 400),
        *some("failed", scene.failed, 9_000, status="failed"),
    ]


def tick(row: Deployment, now: datetime, scene: Scene, **scaler: Any) -> ReplicaDecision:
    """One tick as the scaler makes it: decided by the real rules, stored with its scaler's picture."""
    at, settings = now.timestamp(), effective(row)
    replicas = replicas_of(scene, at)
    memory = _memory(scene, at)
    decision = decide(settings, replicas if scene.listed else None, _reading(scene, at), memory, at)
    outcome = scene.outcome if decision.sent else Outcome.NOT_SENT
    record = {**decision_to_mapping(decision), "outcome": outcome.value}
    missing_since = (decision.learned or memory).metrics_missing_since
    make_scaler(
        row, now, **{
            "replicas": [_replica(one, settings, at) for one in replicas] if scene.listed else [],
            "latest": picture_of(replace(decision, outcome=outcome), settings, missing_since),
            "memory": memory_to_mapping(memory),
            "ticked_at": now,
            "told_at": now,
            "zero_by": scene.zero_by or "",
            **scaler,
        },
    )  # fmt: skip
    return make_decision(row, now, record)


def make_decision(row: Deployment, now: datetime, record: dict[str, Any], **fields: Any) -> ReplicaDecision:
    """A stored decision from its record."""
    counts = record["counts"] or {}
    return ReplicaDecision.objects.create(
        deployment=row, at=now, gate=record["gate"] or "", bound=record["bound"] or "", step=record["step"],
        outcome=record["outcome"], reason=record["reason"], healthy=counts.get("healthy"),
        warming=counts.get("warming"), desired=record["desired"], add=record["add"], stop=len(record["stop"]),
        record=record, **fields,
    )  # fmt: skip


def _memory(scene: Scene, at: float) -> ScalerMemory:
    entries = None if scene.window is None else tuple(WindowEntry(at - ago, desired) for ago, desired in scene.window)
    return ScalerMemory(
        last_scale_at=None if scene.scaled_ago is None else at - scene.scaled_ago,
        window=entries,
        zero_by=scene.zero_by,
        first_healthy_at=at - 80_000,
        metrics_missing_since=None if scene.missing_for is None else at - scene.missing_for,
    )


def _reading(scene: Scene, at: float) -> MetricsReading:
    def sample(value: float | None, query: str) -> MetricSample:
        return MetricSample(value, at - 3, int(value is not None), scene.error, query=query)

    return MetricsReading(sample(scene.p95, P95_QUERY), sample(scene.rps, RPS_QUERY), scene.prometheus_down)


def _replica(one: Replica, settings: Settings, at: float) -> list[Any]:
    """As scalers store them: id, status, healthy, created, checked, was healthy, class, since."""
    kind = classify(one, since(settings, at)).value
    return [one.id, one.status, one.healthy, one.created, one.last_health_check, one.was_healthy, kind, one.created]


def make_source(name: str, now: datetime, trouble: str = "", **fields: Any) -> SourceState:
    """`gateway` or `prometheus`; with `trouble` it has failed for four minutes."""
    quiet = {"since": before(now, 240 if trouble else 7200), "asked_at": before(now, 2)}
    defaults = {**quiet, "trouble": trouble, "ok_at": before(now, 240 if trouble else 2), **fields}
    instance = defaults.pop("instance", settings.IRIS_INSTANCE)
    return SourceState.objects.update_or_create(name=name, instance=instance, defaults=defaults)[0]


def make_instance(now: datetime, name: str = "iris-1", **fields: Any) -> Instance:
    defaults = {"max_deployments": 25, "started_at": before(now, 7200), "seen_at": before(now, 1)} | fields
    return Instance.objects.update_or_create(name=name, defaults=defaults)[0]


def make_samples(row: Deployment, now: datetime, seconds: float = 3600, every: float = 5, gap: bool = True) -> None:
    """A day's breathing of load over the latest `seconds`, with a gap in the middle in which nothing was known."""
    random = Random(row.pk)
    steps = int(seconds / every)
    made = []
    for n in range(steps):
        share = n / max(1, steps)
        load = 24 + 18 * math.sin(6.3 * share) + random.uniform(-2, 2)
        unknown = gap and 0.45 < share < 0.52
        healthy = 3 + int(3 * share)
        made.append(
            DeploymentSample(
                deployment=row, at=now - timedelta(seconds=every * (steps - n)), healthy=healthy,
                p95_ms=None if unknown else 260 + 9 * load + random.uniform(-25, 25), rps=None if unknown else load,
                warming=int(n % 60 < 12), desired=healthy + int(n % 60 < 12),
            )
        )  # fmt: skip
    DeploymentSample.objects.bulk_create(made, batch_size=500)


# What a deployment of the fleet meets, and how it differs from the usual one.
SCENES: tuple[tuple[str, Scene, dict[str, Any]], ...] = (
    ("chat-large", Scene(healthy=4, p95=912, rps=44), {}),
    ("chat-small", Scene(healthy=5, warming=2, p95=640, rps=61, scaled_ago=40), {}),
    ("code-complete", Scene(healthy=6, p95=310, rps=22, window=((200, 6),)), {}),
    ("embed-en", Scene(healthy=6, p95=180, rps=12, window=((290, 3),)), {"min_replicas": 2}),
    ("embed-multi", Scene(healthy=3, p95=None, rps=None, missing_for=610), {}),
    ("rerank", Scene(healthy=10, p95=1240, rps=133), {}),
    (
        "translate",
        Scene(healthy=0, p95=math.nan, rps=0, window=((20, 0),), zero_by=ZeroBy.LIFECYCLE),
        {"min_replicas": 0},
    ),
    ("vision", Scene(healthy=3, unhealthy=2, failed=1, p95=505, rps=28), {}),
    ("whisper", Scene(listed=False), {}),
    ("draft-model", Scene(healthy=2), {"status": "stopped"}),
    ("summarise", Scene(healthy=4, p95=490, rps=39), {}),
    ("moderation", Scene(healthy=4, p95=380, rps=26, scaled_ago=70), {}),
)


def fleet(now: datetime, size: int = 40) -> list[Deployment]:
    """`size` deployments: first the scenes, then paused, held, unassigned and absent ones, the rest steady."""
    make_instance(now)
    make_source("gateway", now)
    make_source("prometheus", now)
    rows = []
    for name, scene, fields in SCENES:
        row = make_deployment(name, now, **fields)
        if scene.zero_by:
            Deployment.objects.filter(pk=row.pk).update(last_request_at=before(now, 9000))
            row.refresh_from_db()
        tick(row, now, scene)
        rows.append(row)
    rows += _ordered(now)
    for number in range(len(rows), size):
        row = make_deployment(f"model-{number}", now, name="")
        tick(row, now, Scene(healthy=1 + number % 7, rps=9.2 * (1 + number % 7)))
        rows.append(row)
    return rows[:size]


def _ordered(now: datetime) -> list[Deployment]:
    """Those that somebody holds, and those that nobody does."""
    paused = {"pause_since": before(now, 300), "pause_by": "ana", "pause_reason": "load test"}
    both = make_deployment("paused-both", now, pause_direction="both", pause_until=after(now, 1500), **paused)
    down = make_deployment("paused-down", now, pause_direction="down", **paused)
    held = make_deployment("held-at-zero", now, wanted_replicas=0, wanted_until=after(now, 600), wanted_by="ana")
    free = make_deployment("left-over", now)
    absent = make_deployment("not-listed", now, absent_since=before(now, 900), absent_lists=30)
    for row in (both, down):
        tick(row, now, Scene())
    tick(held, now, Scene(healthy=0, p95=math.nan, rps=0, zero_by=ZeroBy.OPERATOR))
    tick(absent, now, Scene())
    make_scaler(free, now, holder="", expires_at=None, free_since=before(now, 420))
    return [both, down, held, free, absent]
