"""An autoscaler to script against: the pure cycle, its state kept from one `run_once` to the next, on mock platforms.

group = ScalingGroup({"name": "tpu-v5-8", "max_slices": 8}, make_mock_platform())
autoscaler = make_autoscaler({"tpu-v5-8": group})
autoscaler.run_once(demand=[DemandEntry(resources={"tpu": 12})], status={}, timestamp=Timestamp.now())
autoscaler.get_status().recent_actions
"""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from scaling.autoscaler.cycle import run_cycle
from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.models import (
    Action,
    ClusterState,
    CreateIntent,
    CycleResult,
    CycleStatus,
    GroupControl,
    Slice,
    SliceState,
    Status,
    Worker,
)
from scaling.autoscaler.provisioning import apply_create_answer
from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.status import build_status
from scaling.testing.platform import MockPlatform, make_mock_platform


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment; `seconds` since 1970 UTC."""

    seconds: float

    @classmethod
    def now(cls) -> "Timestamp":
        return cls(datetime.now(UTC).timestamp())

    @classmethod
    def from_seconds(cls, seconds: float) -> "Timestamp":
        return cls(float(seconds))

    @classmethod
    def from_ms(cls, milliseconds: float) -> "Timestamp":
        return cls(milliseconds / 1000)

    def epoch_seconds(self) -> float:
        return self.seconds

    def epoch_ms(self) -> int:
        return round(self.seconds * 1000)

    def add_seconds(self, seconds: float) -> "Timestamp":
        return Timestamp(self.seconds + seconds)


Moment = Timestamp | datetime | float
# What is told of one slice's workers: how many tasks run there, or the tasks themselves.
Activity = int | Sized


class Autoscaler:
    """Keeps the cluster's state and carries each cycle's intents out at once."""

    def __init__(self, groups: Mapping[str, ScalingGroup]) -> None:
        self.state = ClusterState(groups={group.name: group for group in groups.values()})
        self.platforms: dict[str, MockPlatform] = {}
        for group in groups.values():
            provider = group.provider if isinstance(group.provider, MockPlatform) else None
            self.platforms.setdefault(group.platform, provider or make_mock_platform(group.platform))
        self.last_result: CycleResult | None = None
        self._status: Status | None = None
        self._cycles = 0

    def run_once(
        self,
        demand: Sequence[DemandEntry] = (),
        status: Mapping[str, Activity] | None = None,
        timestamp: Moment | None = None,
    ) -> Status:
        """One cycle at `timestamp` (default: now).

        `demand` is what waits. `status` tells by slice name how many tasks run there (a number, or the tasks); slices
        that are not named are idle. Returns the status after it.
        """
        now = _seconds(Timestamp.now() if timestamp is None else timestamp)
        entries = [_named(entry, number) for number, entry in enumerate(demand, start=1)]
        self.state = replace(self.state, slices=_with_activity(self.state.slices, status or {}, now))
        listings = {name: platform.list_slices(now) for name, platform in self.platforms.items()}
        self._cycles += 1
        result = run_cycle(self.state, listings, entries, now, seed=str(self._cycles))
        self.state = result.state
        if result.status is CycleStatus.OK:
            result = replace(result, actions=(*result.actions, *self._send(result, now)))
        for platform in self.platforms.values():
            platform.cloud.finish_endings()
        self.last_result = result
        earlier = self._status.recent_actions if self._status else ()
        self._status = build_status(result, sum(entry.tasks for entry in entries), earlier)
        return self._status

    def get_status(self) -> Status:
        """The status after the last cycle; before the first one an empty one."""
        return self._status or Status(0.0, CycleStatus.OK, "no cycle yet", {}, (), ())

    def slices(self, state: SliceState | None = None) -> list[Slice]:
        """The slices that are not gone, by name; all, or those in one state."""
        found = sorted(self.state.slices.values(), key=lambda item: item.name)
        return [item for item in found if item.state.counts and state in (None, item.state)]

    def _send(self, result: CycleResult, now: float) -> list[Action]:
        actions: list[Action] = []
        for create in result.creates:
            error = self.platforms[create.platform].create_slice(create.name, create.group, now)
            actions += self._answer(create, error, now)
        for delete in result.deletes:
            self.platforms[delete.platform].delete_slice(delete.name)
        return actions

    def _answer(self, create: CreateIntent, error: str | None, now: float) -> tuple[Action, ...]:
        state, name = self.state, create.group
        group = state.groups[name]
        answer = apply_create_answer(
            replace(state.slices[create.name], sent_at=now),
            error,
            group,
            {kind: marker for (owner, kind), marker in state.markers.items() if owner == name},
            state.controls.get(name, GroupControl()),
            state.pools.get(group.quota_pool or ""),
            now,
        )
        self.state = replace(
            state,
            slices={**state.slices, create.name: answer.slice},
            markers={**state.markers, **{(name, kind): marker for kind, marker in answer.markers.items()}},
            controls={**state.controls, name: answer.control},
        )
        return answer.actions

    def shutdown(self) -> None:
        """Nothing runs between cycles; here because scripts call it."""


def make_autoscaler(groups: Mapping[str, ScalingGroup]) -> Autoscaler:
    """An autoscaler over these groups, each on the platform it was made with (or a mock one)."""
    return Autoscaler(groups)


def _seconds(moment: Moment) -> float:
    if isinstance(moment, Timestamp):
        return moment.seconds
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)


def _named(entry: DemandEntry, number: int) -> DemandEntry:
    """Demand without a job id gets one, so that its hint can be told from others."""
    return entry if entry.job_id else entry.called(f"demand-{number}")


def _with_activity(slices: Mapping[str, Slice], status: Mapping[str, Activity], now: float) -> dict[str, Slice]:
    found = {}
    for name, item in slices.items():
        told = status.get(name, 0)
        tasks = told if isinstance(told, int) else len(told)
        workers = tuple(_worker(worker, worker.index < tasks, now) for worker in item.workers)
        found[name] = replace(item, workers=workers)
    return found


def _worker(worker: Worker, busy: bool, now: float) -> Worker:
    if busy:
        return replace(worker, active_tasks=1, idle_since=None)
    return replace(worker, active_tasks=0, idle_since=now if worker.active_tasks else worker.idle_since)
