"""Short ways to say what is stored of one group, what its platform lists, and the cycle that meets both."""

from dataclasses import replace

from scaling.autoscaler.cycle import run_cycle
from scaling.autoscaler.models import (
    ActionKind,
    ClusterState,
    CycleResult,
    Listing,
    ScalingGroup,
    SeenSlice,
    SeenWorker,
    Slice,
    SliceState,
    Worker,
    WorkerHealth,
)
from tests.autoscaler.cluster import tpu

GROUP = ScalingGroup(tpu("t", workers=2))
NOW = 1000.0


def state(*slices: Slice, **fields: object) -> ClusterState:
    stored = ClusterState(groups={"t": GROUP}, slices={item.name: item for item in slices}, installation="us")
    return replace(stored, **fields)  # type: ignore[arg-type]


def item(name: str = "s", kind: SliceState = SliceState.READY, **fields: object) -> Slice:
    serves = kind in (SliceState.READY, SliceState.DRAINING)
    workers = tuple(Worker(index, idle_since=990.0) for index in range(2)) if serves else ()
    base = Slice(name, "t", kind, created=900.0, sent_at=900.0, ready_since=50.0 if serves else None, workers=workers)
    return replace(base, **fields)  # type: ignore[arg-type]


def seen(name: str = "s", kind: SliceState = SliceState.READY, *healths: WorkerHealth, **fields: object) -> SeenSlice:
    workers = tuple(SeenWorker(index, health) for index, health in enumerate(healths))
    return replace(SeenSlice(name, kind, "t", "us", workers=workers), **fields)  # type: ignore[arg-type]


def cycle(stored: ClusterState, *slices: SeenSlice, error: str = "", now: float = NOW) -> CycleResult:
    return run_cycle(stored, {"simulated": Listing(slices, error)}, [], now)


def kinds(result: CycleResult) -> list[ActionKind]:
    return [action.kind for action in result.actions]
