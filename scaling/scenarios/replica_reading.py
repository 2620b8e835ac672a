"""Reading a replica scenario from a parsed mapping; every key that is not known is refused."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from scaling.replicas.deployment import Pause, PauseDirection
from scaling.replicas.memory import ZeroBy
from scaling.replicas.replica import Replica
from scaling.replicas.window import WindowEntry
from scaling.scenarios.fields import BadScenario, Fields, fields, items, wrong
from scaling.scenarios.replica_scenario import (
    CountedReplicas,
    Entry,
    GatewayAnswer,
    ListedReplicas,
    Metrics,
    Replicas,
    ReplicaScenario,
    UnreadableReplicas,
    Value,
)

MOST_TICKS = 100_000
MOST_REPLICAS = 10_000

SCENARIO_KEYS = (
    "now",
    "warmup_seconds",
    "deployment",
    "replicas",
    "lease",
    "metrics",
    "window",
    "ticks",
    "every",
    "timeline",
)
METRICS_KEYS = ("p95_latency_ms", "rps", "age", "warnings", "series")
COUNT_KEYS = ("healthy", "warming", "unhealthy", "failed")
REPLICA_KEYS = ("id", "status", "healthy", "created", "last_health_check", "was_healthy")
ENTRY_KEYS = ("at", "for", "metrics", "replicas", "gateway", "prometheus", "lease")

Reader = Callable[[Fields, str], Any]


def parse_scenario(content: object) -> ReplicaScenario:
    """Read one document; raises BadScenario with the place and what was expected there."""
    top = fields(content, "", SCENARIO_KEYS, "a mapping with deployment and replicas")
    deployment = fields(top.need("deployment", "a mapping"), "deployment", ("id", *SETTINGS, *MEMORY))
    return ReplicaScenario(
        now=top.number("now", 0),
        warmup_seconds=top.number("warmup_seconds", 60, minimum=0),
        settings={**DEFAULTS, **_read(deployment, SETTINGS), "id": deployment.text("id", "deployment")},
        memory=_read(deployment, MEMORY),
        replicas=_replicas(top.need("replicas", "counts, a list or error"), "replicas"),
        metrics=_metrics(top, "metrics") if "metrics" in top else Metrics(),
        lease_held=_lease(top, "lease") if "lease" in top else True,
        window=_window(top),
        ticks=top.whole("ticks", 1, minimum=1, maximum=MOST_TICKS),
        every=_positive(top, "every", 5),
        timeline=_timeline(top),
    )


def _read(found: Fields, readers: Mapping[str, tuple[str, Reader]]) -> dict[str, Any]:
    """The record fields of the keys that are there; two spellings of one field are one too many."""
    values: dict[str, Any] = {}
    for key, (name, read) in readers.items():
        if key not in found:
            continue
        if name in values:
            raise BadScenario(found.at(key), "expected one spelling of this key, both are there")
        values[name] = read(found, key)
    return values


def _positive(found: Fields, key: str, default: float) -> float:
    value = found.number(key, default)
    if value <= 0:
        raise wrong(found.at(key), "a number above 0", value)
    return value


def _amount(found: Fields, key: str) -> float:
    return found.number(key, 0, minimum=0)


def _target(found: Fields, key: str) -> float | None:
    return found.number_or_none(key, minimum=0)


def _time(found: Fields, key: str) -> float | None:
    return found.number_or_none(key)


def _count(found: Fields, key: str) -> int:
    return found.whole(key, 0)


def _pause(found: Fields, key: str) -> Pause | None:
    value = found.get(key)
    if value is None or isinstance(value, bool):
        return Pause() if value else None
    what = "true, false or a mapping with until and direction"
    pause = fields(value, found.at(key), ("until", "direction"), what)
    direction = pause.choice("direction", PauseDirection.BOTH.value, [it.value for it in PauseDirection])
    return Pause(pause.number_or_none("until"), PauseDirection(direction))


def _zero_by(found: Fields, key: str) -> ZeroBy | None:
    if found.get(key) is None:
        return None
    return ZeroBy(found.choice(key, "", [it.value for it in ZeroBy]))


DEFAULTS: Mapping[str, Any] = MappingProxyType({"min_replicas": 1, "max_replicas": 10})

SETTINGS: Mapping[str, tuple[str, Reader]] = MappingProxyType(
    {
        "status": ("status", lambda found, key: found.text(key, "")),
        "min_replicas": ("min_replicas", _count),
        "max_replicas": ("max_replicas", _count),
        "target_latency_p95_ms": ("target_latency_p95_ms", _target),
        "target_rps": ("target_rps", _target),
        "stabilization_window": ("stabilization_window_seconds", _amount),
        "stabilisation_window": ("stabilization_window_seconds", _amount),
        "cooldown": ("cooldown_seconds", _amount),
        "tolerance": ("tolerance", _amount),
        "scale_up_limit": ("scale_up_limit", lambda found, key: found.whole_or_none(key)),
        "health_grace": ("health_grace_seconds", _amount),
        "paused": ("pause", _pause),
        "last_request_at": ("last_request_at", _time),
    }
)
"""Keys of `deployment` that are settings, each with its field of Deployment and its reader."""

MEMORY: Mapping[str, tuple[str, Reader]] = MappingProxyType(
    {
        "last_scale_at": ("last_scale_at", _time),
        "zero_by": ("zero_by", _zero_by),
        "first_healthy_at": ("first_healthy_at", _time),
    }
)
"""Keys of `deployment` that the scaler remembers, each with its field of ScalerMemory and its reader."""


def _replicas(value: object, place: str) -> Replicas:
    if value == "error":
        return UnreadableReplicas()
    if isinstance(value, list):
        return _listed(value, place)
    counts = fields(value, place, COUNT_KEYS, "counts, a list or error")
    return CountedReplicas(**{key: counts.whole(key, 0, maximum=MOST_REPLICAS) for key in COUNT_KEYS})


def _listed(value: object, place: str) -> ListedReplicas:
    replicas: dict[str, Replica] = {}
    for where, element in items(value, place):
        replica = _replica(fields(element, where, REPLICA_KEYS, "a mapping with an id"))
        if replica.id in replicas:
            raise wrong(f"{where}.id", "an id that is not there twice", replica.id)
        replicas[replica.id] = replica
    return ListedReplicas(tuple(replicas.values()))


def _replica(found: Fields) -> Replica:
    found.need("id", "a text")
    return Replica(
        id=found.text("id", ""),
        status=found.text("status", "running"),
        healthy=found.get("healthy") is not None and found.flag("healthy", False),
        created=found.number_or_none("created"),
        last_health_check=found.number_or_none("last_health_check"),
        was_healthy=found.get("was_healthy") is not None and found.flag("was_healthy", False),
    )


def _metrics(found: Fields, key: str) -> Metrics:
    block = fields(found.get(key), found.at(key), METRICS_KEYS, "a mapping with p95_latency_ms and rps")
    return Metrics(
        p95_latency_ms=_value(block, "p95_latency_ms"),
        rps=_value(block, "rps"),
        age=block.number("age", 0),
        warnings=block.flag("warnings", False),
        series=block.whole("series", 1),
    )


def _value(found: Fields, key: str) -> float | Value | None:
    value = found.get(key)
    if value is None:
        return None
    if value == Value.ERROR:
        return Value.ERROR
    if isinstance(value, float) and not math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(found.at(key), "a number, .nan, .inf, null or error", value)
    return value


def _window(top: Fields) -> tuple[WindowEntry, ...] | None:
    value = top.get("window")
    if value is None:
        return None
    entries = []
    for where, element in items(value, "window"):
        entry = fields(element, where, ("at", "desired"), "a mapping with at and desired")
        entry.need("at", "a number")
        entry.need("desired", "a whole number")
        entries.append(WindowEntry(entry.number("at", 0), entry.whole("desired", 0)))
    return tuple(sorted(entries, key=lambda entry: entry.at))


def _lease(found: Fields, key: str) -> bool:
    return found.choice(key, "held", ("held", "lost")) == "held"


def _timeline(top: Fields) -> tuple[Entry, ...]:
    """The entries in order of time; of two at the same time the later one in the file wins."""
    if top.get("timeline") is None:
        return ()
    elements = enumerate(items(top.get("timeline"), "timeline"))
    entries = [_entry(number, element, where) for number, (where, element) in elements]
    return tuple(sorted(entries, key=lambda entry: entry.at))


def _entry(number: int, value: object, place: str) -> Entry:
    found = fields(value, place, (*ENTRY_KEYS, *SETTINGS, *MEMORY), "a mapping with at and what changes")
    found.need("at", "a number")
    if not set(found.values) - {"at", "for"}:
        raise BadScenario(place, "expected something that changes beside at and for")
    at = found.number("at", 0)
    return Entry(
        number=number,
        at=at,
        until=at + _positive(found, "for", 1) if "for" in found else None,
        settings=_read(found, SETTINGS),
        memory=_read(found, MEMORY),
        metrics=_metrics(found, "metrics") if "metrics" in found else None,
        replicas=_replicas(found.get("replicas"), found.at("replicas")) if "replicas" in found else None,
        gateway=_gateway(found) if "gateway" in found else None,
        prometheus_down=_prometheus(found) if "prometheus" in found else None,
        lease_held=_lease(found, "lease") if "lease" in found else None,
    )


def _gateway(found: Fields) -> GatewayAnswer:
    return GatewayAnswer(found.choice("gateway", "", [it.value for it in GatewayAnswer]))


def _prometheus(found: Fields) -> bool:
    return found.choice("prometheus", "", ("down", "up")) == "down"
