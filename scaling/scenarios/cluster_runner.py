"""Runs a cluster scenario: the pure cycle of the autoscaler on a virtual clock, against a scripted cloud."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from scaling.autoscaler.cycle import lost_slices, run_cycle
from scaling.autoscaler.models import (
    Action,
    ClusterState,
    CycleResult,
    CycleStatus,
    GroupControl,
    Listing,
    Slice,
    SliceState,
    Worker,
)
from scaling.autoscaler.provisioning import apply_create_answer
from scaling.autoscaler.reconcile import recovered
from scaling.autoscaler.scheduling import starts
from scaling.scenarios.cluster_events import apply_event
from scaling.scenarios.cluster_scenario import ClusterScenario, Event, EventKind
from scaling.scenarios.cluster_start import start_cloud, start_state, start_tasks
from scaling.scenarios.cluster_tasks import Job

Clock = Callable[[], float]
_NO_CONTROL = GroupControl()


@dataclass(frozen=True, slots=True)
class CycleRecord:
    """One cycle as it is reported; `actions` also holds those of events since the last complete cycle."""

    at: float
    result: CycleResult
    actions: tuple[Action, ...]
    plan_seconds: float | None


@dataclass(slots=True)
class Totals:
    """`creates_sent` counts repeated requests as well; a late failure counts as accepted."""

    creates_sent: int = 0
    creates_accepted: int = 0
    creates_failed: int = 0
    backoff_skipped: int = 0
    terminated: int = 0


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """What a scenario came to."""

    cycles: tuple[CycleRecord, ...]
    state: ClusterState
    jobs: Mapping[str, Job]
    totals: Totals


def run_cluster_scenario(scenario: ClusterScenario, clock: Clock | None = None) -> ClusterRun:
    """Runs all cycles; `clock` (seconds) measures the plans alone, without it nothing is measured."""
    return _World(scenario, clock).run()


@dataclass(slots=True)
class _Silence:
    """A worker that says nothing from `since` until `until`."""

    slice: str
    worker: int
    since: float
    until: float | None


@dataclass(slots=True)
class _ListError:
    text: str
    platform: str | None
    until: float | None

    def holds(self, platform: str, now: float) -> bool:
        return self.platform in (None, platform) and (self.until is None or now < self.until)


@dataclass(slots=True)
class _Moments:
    """What is still to happen, besides what the cloud and the tasks know of themselves."""

    events: list[Event]
    silences: list[_Silence] = field(default_factory=list)
    list_errors: list[_ListError] = field(default_factory=list)


class _World:
    def __init__(self, scenario: ClusterScenario, clock: Clock | None) -> None:
        self.scenario = scenario
        self.clock = clock
        self.state = start_state(scenario)
        self.cloud = start_cloud(scenario)
        self.tasks = start_tasks(scenario)
        self.moments = _Moments(list(scenario.events))
        self.totals = Totals()
        self.actions: list[Action] = []
        self.now = min([0.0, *(event.at for event in scenario.events)])
        self.started = False
        self.fresh: set[str] | None = None  # slices with room the tasks have not looked at; None = all

    def run(self) -> ClusterRun:
        records = []
        for number in range(self.scenario.cycles):
            self._advance(number * self.scenario.every)
            records.append(self._cycle(number))
        return ClusterRun(tuple(records), self.state, self.tasks.jobs, self.totals)

    # -- between cycles

    def _advance(self, until: float) -> None:
        """Goes on to `until`, moment by moment: events first, then what ends or gets ready, then tasks start."""
        while (moment := self._next_moment()) is not None and moment <= until:
            self.now = moment
            self._happen()
        self.now = until
        self._happen()

    def _next_moment(self) -> float | None:
        known = [
            self.moments.events[0].at if self.moments.events else None,
            self.cloud.next_moment(self.now),
            self.tasks.next_end(),
            *(silence.until for silence in self.moments.silences),
        ]
        return min((at for at in known if at is not None), default=None)

    def _happen(self) -> None:
        while self.moments.events and self.moments.events[0].at <= self.now:
            self._on_event(self.moments.events.pop(0))
        for silence in [item for item in self.moments.silences if item.until is not None and item.until <= self.now]:
            self.moments.silences.remove(silence)
            self._set_worker(silence.slice, silence.worker, lambda worker: recovered(worker, self.now))
        self.tasks.finish(self.now)
        self._open_ready_slices()
        self._redraw()
        if self.started:
            self._start_tasks()

    def _on_event(self, event: Event) -> None:
        if event.kind is EventKind.JOB_DONE:
            self.tasks.job_done(event.target, self.now)
        elif event.kind is EventKind.LOSE_WORKER:
            self._lose_worker(event.target)
        elif event.kind is EventKind.WORKER_UNKNOWN:
            self._silence_worker(event)
        elif event.kind is EventKind.PLATFORM_LIST_ERROR:
            self.moments.list_errors.append(_ListError(event.target, event.platform, event.until))
        else:
            self.state, actions = apply_event(self.state, event, self.now)
            self.actions += actions
        self.fresh = None

    def _lose_worker(self, name: str) -> None:
        if name in self.cloud.slices:
            self.cloud.slices[name].worker_lost = True
            self.tasks.freeze(name)

    def _silence_worker(self, event: Event) -> None:
        item = self.state.slices.get(event.target)
        if item is None or not item.workers or any(s.slice == event.target for s in self.moments.silences):
            return
        index = item.workers[0].index
        self._set_worker(item.name, index, lambda worker: replace(worker, unknown_since=self.now))
        self.moments.silences.append(_Silence(item.name, index, self.now, event.until))

    def _set_worker(self, name: str, index: int, change: Callable[[Worker], Worker]) -> None:
        item = self.state.slices.get(name)
        if item is not None:
            workers = tuple(change(worker) if worker.index == index else worker for worker in item.workers)
            self._put(replace(item, workers=workers))
            self._look_at(name)

    def _put(self, *items: Slice) -> None:
        self.state = replace(self.state, slices={**self.state.slices, **{item.name: item for item in items}})

    def _look_at(self, name: str) -> None:
        if self.fresh is not None:
            self.fresh.add(name)

    def _open_ready_slices(self) -> None:
        """Slices that the cloud has ready take tasks at once; the autoscaler learns of it in its next cycle."""
        opened = []
        for name, item in self.cloud.slices.items():
            mine = self.state.slices.get(name)
            if mine is not None and mine.state.in_flight and not mine.workers and item.serves(self.now):
                group = self.state.groups[mine.group]
                indexes = range(group.workers_per_slice)
                opened.append(replace(mine, workers=tuple(Worker(at, idle_since=item.ready_at) for at in indexes)))
                for index in indexes:
                    self.tasks.hold(name, index, group, held=False)
                self._look_at(name)
        if opened:
            self._put(*opened)

    def _redraw(self) -> None:
        """Brings the workers of slices whose tasks changed up to date."""
        changed = []
        for name in self.tasks.touched:
            item = self.state.slices.get(name)
            if item is not None and item.workers:
                workers = tuple(self.tasks.worker(name, worker) for worker in item.workers)
                changed.append(replace(item, workers=workers))
                self._look_at(name)
        self.tasks.touched.clear()
        if changed:
            self._put(*changed)

    def _start_tasks(self) -> None:
        if self.tasks.any_waits and (self.fresh is None or self.fresh):
            limit = None if self.tasks.a_gang_waits else self.fresh
            usable = {
                name: self._as_ready(item, self.cloud.slices[name].ready_at)
                for name, item in self.state.slices.items()
                if (limit is None or name in limit) and self._takes_tasks(item)
            }
            self.tasks.start(starts(replace(self.state, slices=usable), self.tasks.demand(), self.now), self.now)
        self.fresh = set()
        self._redraw()
        self.fresh = set()

    def _takes_tasks(self, item: Slice) -> bool:
        cloud_slice = self.cloud.slices.get(item.name)
        return bool(item.workers) and cloud_slice is not None and cloud_slice.serves(self.now)

    @staticmethod
    def _as_ready(item: Slice, ready_at: float) -> Slice:
        return replace(item, state=SliceState.READY, ready_since=ready_at) if item.state.in_flight else item

    # -- a cycle

    def _cycle(self, number: int) -> CycleRecord:
        observations = {platform: self._listing(platform) for platform in self._platforms()}
        self._give_up(lost_slices(self.state, observations, self.now))
        demand = self.tasks.demand()
        began = self.clock() if self.clock else 0.0
        result = run_cycle(self.state, observations, demand, self.now, seed=str(number))
        took = self.clock() - began if self.clock else None
        self.state = result.state
        if result.status is CycleStatus.OK:
            self._take_over(result)
            self._send(result)
        self.cloud.finish_endings()
        self.fresh = None
        self.started = True
        self._happen()
        actions: tuple[Action, ...] = ()
        if result.status is CycleStatus.OK:
            actions, self.actions = tuple(self.actions), []
        return CycleRecord(self.now, result, actions, took)

    def _platforms(self) -> list[str]:
        return sorted({group.platform for group in self.state.groups.values()})

    def _listing(self, platform: str) -> Listing:
        error = next((e.text for e in self.moments.list_errors if e.holds(platform, self.now)), "")
        return Listing(error=error) if error else Listing(self.cloud.listing(platform, self.now))

    def _give_up(self, lost: frozenset[str]) -> None:
        """The tasks of slices that this cycle finds lost are demand in it."""
        for name in sorted(lost):
            self.tasks.lose(name, self.now)
        self._redraw()

    def _take_over(self, result: CycleResult) -> None:
        for job_id, job in self.tasks.jobs.items():
            job.placed = min(result.placed.get(job_id, 0), job.waiting)
        self.totals.backoff_skipped += result.backoff_skipped
        self.actions += result.actions

    def _send(self, result: CycleResult) -> None:
        for create in result.creates:
            self.totals.creates_sent += 1
            error = self.cloud.create(create.name, create.group, create.platform, self.now)
            self._answer(replace(self.state.slices[create.name], sent_at=self.now), error)
        for delete in result.deletes:
            self.cloud.delete(delete.name)
            item = self.state.slices.get(delete.name)
            if item is not None and item.state is SliceState.DRAINING:
                self.totals.terminated += 1
                self.tasks.lose(item.name, self.now)
                self._put(replace(item, state=SliceState.TERMINATING, workers=()))

    def _answer(self, item: Slice, error: str | None) -> None:
        group = self.state.groups[item.group]
        markers = {kind: m for (name, kind), m in self.state.markers.items() if name == group.name}
        control = self.state.controls.get(group.name)
        pool = self.state.pools.get(group.quota_pool or "")
        answer = apply_create_answer(item, error, group, markers, control or _NO_CONTROL, pool, self.now)
        self.totals.creates_accepted += answer.accepted
        self.totals.creates_failed += not answer.accepted and not answer.retry
        self.actions += answer.actions
        kept = {(group.name, kind): marker for kind, marker in answer.markers.items()}
        self.state = replace(
            self.state,
            slices={**self.state.slices, item.name: answer.slice},
            markers={**self.state.markers, **kept},
            controls={**self.state.controls, group.name: answer.control},
            pools={**self.state.pools, **({pool.name: answer.pool} if pool and answer.pool else {})},
        )
