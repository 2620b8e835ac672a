"""Which job arrives in which second of the demonstration: a function of the second alone, so it needs no memory."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from scaling.demonstration.cluster import EUROPE, US_CENTRAL, US_EAST
from scaling.demonstration.weather import stock_out_at

SEED = 20

# Jobs per second swing around the mean, so that groups grow and shrink.
MEAN_PER_SECOND = 0.22
SWING_PER_SECOND = 0.16
SWING_PERIOD_SECONDS = 420

# A job that cannot be placed arrives at these seconds: the first within two minutes of any start.
HOPELESS_EVERY_SECONDS = 97


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job: what its tasks ask for and how long they run."""

    name: str
    weight: int
    resources: Mapping[str, Any]
    tasks: tuple[int, ...] = (1,)
    seconds: tuple[int, int] = (30, 120)
    fields: Mapping[str, Any] = field(default_factory=dict)


def _tpu(variant: str, count: int = 1) -> dict[str, Any]:
    return {"tpu": {"variant": variant, "count": count}}


def _gpu(variants: list[str], count: float, cpu: int = 8, memory: str = "64GiB") -> dict[str, Any]:
    return {"gpu": {"variants": variants, "count": count}, "cpu": cpu, "memory": memory}


_BATCH = {"tier": "batch", "priority": 50}
_PRODUCTION = {"tier": "production", "priority": 200}
_GANG = {"gang": True}

KINDS = (
    Kind("eval-suite", 5, _tpu("v5litepod-4"), (1, 2, 3), (25, 70), _BATCH),
    Kind("sweep-gemma", 3, _tpu("v5litepod-16", 4), (1,), (60, 150), _GANG),
    Kind("pretrain-olmo", 2, _tpu("v5p-32", 4), (1,), (90, 180), _GANG | _PRODUCTION),
    Kind("finetune-llama", 4, {"tpu": {"version": "v5p", "topology": "2x2x1"}}, (1, 2), (40, 120)),
    Kind("rollout-qwen", 4, _tpu("v6e-8"), (1, 2, 3), (30, 100)),
    Kind("sft-qwen", 4, _gpu(["h100"], 8, 64, "512GiB"), (1, 2), (60, 180), _PRODUCTION),
    Kind("embed-wiki", 4, _gpu(["a100", "h100"], 2), (1, 2, 4), (30, 120), _BATCH),
    Kind("notebook", 5, _gpu(["a100"], 0.5, 4, "16GiB"), (1,), (40, 180)),
    Kind("probe-vit", 3, _gpu(["a100", "h100"], 0.25, 2, "8GiB"), (1, 2), (20, 80)),
    Kind("tokenize", 5, {"cpu": 4, "memory": "8GiB"}, (2, 4, 8, 12), (20, 90), _BATCH),
    Kind("dedupe", 2, {"cpu": "3500m", "memory": "24GiB"}, (4, 6), (40, 120)),
)

HOPELESS = (
    Kind("eval-typo", 1, _tpu("v5litepod-4"), fields={"constraints": ["us-centrall1-a"]}),
    Kind("pretrain-giant", 1, _tpu("v5p-32", 64), fields=_GANG),
    Kind("serve-spot", 1, _tpu("v5litepod-4"), fields=_PRODUCTION),
    Kind("sweep-uneven", 1, _tpu("v5litepod-16", 6), fields=_GANG),
    Kind("shuffle-huge", 1, {"cpu": 8, "memory": "96GiB"}),
)

# What wants to grow in a zone while it is out of stock, so that the stock-out is met.
PINNED = {
    US_CENTRAL: Kind(
        "sweep-pinned", 1, _tpu("v5litepod-16", 4), (1,), (60, 120), _GANG | {"constraints": [US_CENTRAL]}
    ),
    US_EAST: Kind("pretrain-pinned", 1, _tpu("v5p-32", 4), (1,), (60, 120), _GANG | {"constraints": [US_EAST]}),
    EUROPE: Kind("sft-pinned", 1, _gpu(["h100"], 8), (2,), (60, 120), {"constraints": [EUROPE]}),
}


def arrivals(began: float, second: int) -> list[dict[str, Any]]:
    """The jobs that arrive in that second of Unix time, as a scheduler would list them; `began`: the demonstration."""
    chance = Random(f"{SEED}:{second}")
    found = []
    if second % HOPELESS_EVERY_SECONDS == 0:
        found.append(_job(HOPELESS[second // HOPELESS_EVERY_SECONDS % len(HOPELESS)], second, chance))
    weather = stock_out_at(began, second)
    if weather is not None and second - weather.starts_at < 1:
        found.append(_job(PINNED[weather.zone], second, chance))
    wave = MEAN_PER_SECOND + SWING_PER_SECOND * math.sin(2 * math.pi * second / SWING_PERIOD_SECONDS)
    if chance.random() < wave:
        (kind,) = chance.choices(KINDS, [kind.weight for kind in KINDS])
        found.append(_job(kind, second, chance))
    return found


def _job(kind: Kind, second: int, chance: Random) -> dict[str, Any]:
    """One job of this kind; its id tells the second it came in."""
    return {
        "id": f"{kind.name}-{second % 1_000_000:06d}",
        "submitted": second,
        "resources": dict(kind.resources),
        "tasks": chance.choice(kind.tasks),
        "run_seconds": chance.randint(*kind.seconds),
        **kind.fields,
    }
