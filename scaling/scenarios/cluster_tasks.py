"""The tasks of a cluster scenario: which wait, which run where, and what they take of their workers."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scaling.autoscaler.demand import DemandEntry, in_order
from scaling.autoscaler.models import ScalingGroup, Usage, Worker
from scaling.autoscaler.packing import owns_workers
from scaling.autoscaler.scheduling import Start
from scaling.autoscaler.shapes import UNIT, Need
from scaling.scenarios.cluster_scenario import ScenarioJob


@dataclass(slots=True)
class Job:
    """Counts of one job's tasks; `placed` are waiting ones that the last plan gave room."""

    entry: DemandEntry
    run_seconds: float | None
    waiting: int
    running: int = 0
    done: int = 0
    placed: int = 0
    over: bool = False
    waiting_since: float | None = None


@dataclass(slots=True)
class Batch:
    """Tasks of one job that started together on one worker; `gpus` are the GPUs they use, each with the share."""

    number: int
    job: Job
    slice: str
    worker: int
    tasks: int
    ends_at: float | None
    gpus: list[tuple[int, int]] = field(default_factory=list)


class Load:
    """What runs on one worker; `held` counts tasks that hold all of it."""

    __slots__ = ("batches", "freed_at", "gpus", "held", "owned")

    def __init__(self, group: ScalingGroup, held: bool) -> None:
        self.held = held
        self.owned = owns_workers(group)
        self.gpus = [0] * group.devices_per_worker
        self.batches: dict[int, Batch] = {}
        self.freed_at: float | None = None

    @property
    def tasks(self) -> int:
        return self.held + sum(batch.tasks for batch in self.batches.values())

    def take_gpus(self, need: Need, tasks: int) -> list[tuple[int, int]]:
        """Gives out GPUs as the planner counts them: shares on the fullest GPU that has room, else on an unused one."""
        taken: list[tuple[int, int]] = []
        if self.owned or not (need.share or need.devices):
            return taken
        for _ in range(tasks):
            for _ in range(need.devices):
                taken.append((self.gpus.index(0), UNIT))
                self.gpus[taken[-1][0]] = UNIT
            if need.share:
                fitting = [index for index, used in enumerate(self.gpus) if used and used + need.share <= UNIT]
                best = max(fitting, key=lambda index: self.gpus[index]) if fitting else self.gpus.index(0)
                self.gpus[best] += need.share
                taken.append((best, need.share))
        return taken

    def usage(self) -> Usage | None:
        if self.held:
            return None
        needs = [(_need(batch.job), batch.tasks) for batch in self.batches.values()]
        return Usage(
            cpu=sum(need.cpu * tasks for need, tasks in needs) / UNIT,
            memory=sum(need.memory * tasks for need, tasks in needs),
            disk=sum(need.disk * tasks for need, tasks in needs),
            gpus=tuple(used / UNIT for used in self.gpus if used),
        )


class Tasks:
    """All jobs and where their tasks run. Changed slices are collected in `touched` until their workers are redrawn."""

    def __init__(self, jobs: Sequence[ScenarioJob], now: float) -> None:
        by_entry = {id(job.entry): job for job in reversed(jobs)}
        self.jobs: dict[str, Job] = {}
        for entry in in_order([job.entry for job in jobs], now):
            self.jobs[entry.job_id] = Job(entry, by_entry[id(entry)].run_seconds, entry.tasks)
        self.loads: dict[tuple[str, int], Load] = {}
        self.touched: set[str] = set()
        self._batches: dict[int, Batch] = {}
        self._by_slice: dict[str, dict[int, Batch]] = {}
        self._ends: list[tuple[float, int]] = []
        self._number = 0

    def hold(self, slice_: str, worker: int, group: ScalingGroup, held: bool) -> None:
        """A worker is there; `held` when a task of before the scenario has all of it, for good."""
        self.loads[slice_, worker] = Load(group, held)

    def demand(self) -> list[DemandEntry]:
        """The waiting tasks of each job, and the jobs that cannot be meant."""
        return [
            job.entry
            if job.waiting == job.entry.tasks and job.waiting_since is None
            else job.entry.waiting(job.waiting, job.waiting_since)
            for job in self.jobs.values()
            if job.waiting or (job.entry.problem and not job.over)
        ]

    @property
    def any_waits(self) -> bool:
        return any(job.waiting for job in self.jobs.values())

    @property
    def a_gang_waits(self) -> bool:
        return any(
            job.waiting and job.entry.shape is not None and job.entry.shape.gang_tasks for job in self.jobs.values()
        )

    def start(self, begins: Iterable[Start], now: float) -> None:
        for entry, slice_, worker, tasks in begins:
            job = self.jobs[entry.job_id]
            load = self.loads[slice_, worker]
            ends_at = None if job.run_seconds is None else now + job.run_seconds
            self._number += 1
            batch = Batch(self._number, job, slice_, worker, tasks, ends_at, load.take_gpus(_need(job), tasks))
            load.batches[batch.number] = self._batches[batch.number] = batch
            self._by_slice.setdefault(slice_, {})[batch.number] = batch
            if ends_at is not None:
                heapq.heappush(self._ends, (ends_at, batch.number))
            job.waiting -= tasks
            job.running += tasks
            job.placed = max(job.placed - tasks, 0)
            self.touched.add(slice_)

    def next_end(self) -> float | None:
        while self._ends and self._ends[0][1] not in self._batches:
            heapq.heappop(self._ends)
        return self._ends[0][0] if self._ends else None

    def finish(self, now: float) -> None:
        """Ends the tasks whose time has come."""
        while (end := self.next_end()) is not None and end <= now:
            _, number = heapq.heappop(self._ends)
            batch = self._batches[number]
            self._remove(batch, now)
            batch.job.running -= batch.tasks
            batch.job.done += batch.tasks

    def job_done(self, job_id: str, now: float) -> None:
        job = self.jobs[job_id]
        for batch in [batch for batch in self._batches.values() if batch.job is job]:
            self._remove(batch, now)
        job.done += job.waiting + job.running
        job.waiting = job.running = job.placed = 0
        job.over = True

    def freeze(self, slice_: str) -> None:
        """A lost slice's tasks do not end by themselves any more."""
        for batch in self._by_slice.get(slice_, {}).values():
            batch.ends_at = None
        lasting = {number for number, batch in self._batches.items() if batch.ends_at is not None}
        self._ends = [item for item in self._ends if item[1] in lasting]
        heapq.heapify(self._ends)

    def lose(self, slice_: str, now: float) -> None:
        """The slice is given up: its tasks wait again. A gang runs whole or not at all, so all of it does."""
        for batch in list(self._by_slice.get(slice_, {}).values()):
            if batch.number in self._batches:
                self._wait_again(batch, now)
        for key in [key for key in self.loads if key[0] == slice_]:
            del self.loads[key]
        self.touched.discard(slice_)

    def _wait_again(self, batch: Batch, now: float) -> None:
        job = batch.job
        is_gang = job.entry.shape is not None and job.entry.shape.gang_tasks
        again = [item for item in self._batches.values() if item.job is job] if is_gang else [batch]
        for item in again:
            self._remove(item, now)
            job.running -= item.tasks
            job.waiting += item.tasks
            job.waiting_since = now

    def _remove(self, batch: Batch, now: float) -> None:
        del self._batches[batch.number]
        self._by_slice[batch.slice].pop(batch.number, None)
        load = self.loads[batch.slice, batch.worker]
        del load.batches[batch.number]
        load.freed_at = now
        for index, share in batch.gpus:
            load.gpus[index] -= share
        self.touched.add(batch.slice)

    def worker(self, slice_: str, worker: Worker) -> Worker:
        """The worker as its tasks make it; one that has just run empty is idle from then on."""
        load = self.loads[slice_, worker.index]
        tasks = load.tasks
        known = [at for at in (worker.idle_since, load.freed_at) if at is not None]
        return Worker(
            index=worker.index,
            active_tasks=tasks,
            used=load.usage() if tasks else None,
            idle_since=None if tasks else max(known, default=None),
            freed_at=load.freed_at if tasks else None,
            unknown_since=worker.unknown_since,
            missing=worker.missing,
        )


def _need(job: Job) -> Need:
    shape = job.entry.request.shape
    return shape.need if shape is not None else Need()
