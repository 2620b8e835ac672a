"""What holds for every cluster, whatever happens in it. IRIS_EXAMPLES sets how many are tried (then at random)."""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings

from scaling.autoscaler import cycle as core
from scaling.autoscaler.markers import limit_of
from scaling.autoscaler.models import (
    ActionKind,
    CapacityType,
    ClusterState,
    CycleResult,
    CycleStatus,
    DeleteCause,
    DemandEntry,
    Listing,
    Outcome,
    SliceState,
)
from scaling.autoscaler.routing import Router
from scaling.autoscaler.seeker import Routed
from scaling.scenarios import cluster_runner
from scaling.scenarios.cluster_reading import parse_cluster_scenario
from scaling.scenarios.cluster_runner import ClusterRun, run_cluster_scenario
from tests.autoscaler.plain_router import PlainRouter
from tests.autoscaler.random_clusters import scenarios, tpu_scenarios

CHOSEN = os.environ.get("IRIS_EXAMPLES")
effort = settings(
    max_examples=int(CHOSEN or 30),
    derandomize=CHOSEN is None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

Mapping = dict[str, Any]


@dataclass
class Seen:
    """One cycle with what went in and how its entries were routed."""

    state: ClusterState
    observations: Mapping
    demand: list[DemandEntry]
    now: float
    seed: str
    result: CycleResult
    routed: list[Routed] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    router: Router | None = None

    @property
    def is_ok(self) -> bool:
        return self.result.status is CycleStatus.OK


@contextmanager
def watching() -> Iterator[list[Seen]]:
    """Notes every cycle of a scenario."""
    seen: list[Seen] = []
    route, run = Router.route, core.run_cycle
    last: list[tuple[Router, list[Routed]]] = []

    def noting_route(self: Router, entries: list[DemandEntry]) -> list[Routed]:
        routed = route(self, entries)
        last.append((self, routed))
        return routed

    def noting_run(state: ClusterState, observations: Mapping, demand: list[DemandEntry], now: float, seed: str) -> Any:
        last.clear()
        result = run(state, observations, demand, now, seed)
        item = Seen(state, observations, demand, now, seed, result)
        if last:
            item.router, item.routed = last[-1]
            item.held = set(item.router.holds)
        seen.append(item)
        return result

    with patch.object(Router, "route", noting_route), patch.object(cluster_runner, "run_cycle", noting_run):
        yield seen


def watched(scenario: Mapping) -> tuple[ClusterRun, list[Seen]]:
    with watching() as seen:
        run = run_cluster_scenario(parse_cluster_scenario(scenario))
    return run, seen


def each_cycle(scenario: Mapping, check: Callable[[Seen], None]) -> None:
    for item in watched(scenario)[1]:
        if item.is_ok:
            check(item)


def held(state: ClusterState) -> Counter[str]:
    return Counter(item.group for item in state.slices.values() if item.state.counts)


@effort
@given(scenarios())
def test_no_group_is_ever_bought_above_its_max(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        bought = Counter(create.group for create in item.result.creates if not create.retry)
        after = held(item.result.state)
        for group, count in bought.items():
            assert count == item.result.evaluations[group].scale_up
            assert after[group] <= item.result.state.groups[group].max_slices

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_no_pool_is_ever_bought_above_its_limit(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        state = item.result.state
        counts = held(state)
        for pool in state.pools.values():
            groups = [group for group in state.groups.values() if group.quota_pool == pool.name]
            bought = {create.group for create in item.result.creates if not create.retry}
            limit = limit_of(pool)
            if limit is not None and bought & {group.name for group in groups}:
                assert sum(counts[group.name] * group.slice_cost for group in groups) <= limit

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_releasing_never_goes_below_the_floor(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        released = {delete.name for delete in item.result.deletes if delete.cause is DeleteCause.RELEASED}
        for name, group in item.result.state.groups.items():
            drained = item.result.state.controls.get(name)
            left = [
                other
                for other in item.result.state.slices.values()
                if other.group == name and other.state is SliceState.READY and other.drain is None
            ]
            freely = [
                item.state.slices[gone]
                for gone in released
                if gone in item.state.slices and item.state.slices[gone].group == name
            ]
            freely = [old for old in freely if old.drain is None and old.state is not SliceState.DRAINING]
            if freely and (drained is None or drained.drain is None):
                assert len(left) >= group.floor

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_no_busy_slice_and_none_the_plan_uses_is_released(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        used = {room.slice.name for _, _, placed, _ in item.routed for room, *_ in placed if room.slice is not None}
        for delete in item.result.deletes:
            before = item.state.slices.get(delete.name)
            if delete.cause is not DeleteCause.RELEASED or before is None:
                continue
            assert delete.name not in used
            drains = [
                before.drain,
                item.state.controls[before.group].drain if before.group in item.state.controls else None,
            ]
            if not any(drain and drain.deadline is not None and drain.deadline <= item.now for drain in drains):
                assert not any(worker.active_tasks for worker in before.workers)

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_production_is_never_planned_or_started_on_preemptible_capacity(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        assert item.router is not None
        for _, seeker, placed, _ in item.routed:
            if seeker is not None and seeker.shape.needs_firm:
                for room, *_ in placed:
                    assert item.router.plans[room.group].group.capacity_type is not CapacityType.PREEMPTIBLE

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_a_gang_is_planned_whole_in_one_group_or_not_at_all_and_runs_so(scenario: Mapping) -> None:
    run, seen = watched(scenario)
    for item in seen:
        for entry, seeker, placed, left in item.routed:
            if seeker is None or not seeker.shape.gang_tasks:
                continue
            assert len({room.group for room, *_ in placed}) <= 1
            if entry.job_id not in item.held:
                assert left in (0, entry.tasks)
                assert sum(tasks for _, tasks, _ in placed) == entry.tasks - left
            for room, tasks, _ in placed:
                assert tasks <= room.slices * room.workers
    for name, job in run.jobs.items():
        shape = job.entry.request.shape
        if shape is not None and shape.gang_tasks:
            assert job.running in (0, job.entry.tasks), name


@effort
@given(scenarios())
def test_a_gang_is_asked_for_whole(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        assert item.router is not None
        for room, _ in item.router.openings:
            if room.order is not None and room.order.is_gang:
                assert room.granted in (0, room.slices)

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_a_plan_is_the_same_for_shuffled_input(scenario: Mapping) -> None:
    chance = random.Random(len(str(scenario)))

    def shuffled(mapping: Mapping) -> Mapping:
        keys = list(mapping)
        chance.shuffle(keys)
        return {key: mapping[key] for key in keys}

    def check(item: Seen) -> None:
        state = replace(
            item.state,
            groups=shuffled(dict(item.state.groups)),
            slices=shuffled(dict(item.state.slices)),
            markers=shuffled(dict(item.state.markers)),
            pools=shuffled(dict(item.state.pools)),
            controls=shuffled(dict(item.state.controls)),
        )
        observations = {
            name: Listing(tuple(chance.sample(listing.slices, len(listing.slices))), listing.error)
            for name, listing in shuffled(item.observations).items()
        }
        demand = chance.sample(item.demand, len(item.demand))
        again = core.run_cycle(state, observations, demand, item.now, item.seed)

        assert again.evaluations == item.result.evaluations
        assert again.hints == item.result.hints
        assert again.creates == item.result.creates
        assert again.deletes == item.result.deletes
        assert again.actions == item.result.actions
        assert again.state.slices == item.result.state.slices

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_the_fast_router_decides_as_the_plain_one(scenario: Mapping) -> None:
    """But for gangs on several slices of several workers opened together, where it looks at less on purpose."""
    fast = Router.route

    def both(self: Router, entries: list[DemandEntry]) -> list[Routed]:
        plain = PlainRouter.of(self) if not self.holds else None
        routed = fast(self, entries)
        unsettled = any(room.slices > 1 and room.workers > 1 for room, _ in self.openings)
        has_gang = any(entry.shape is not None and entry.shape.gang_tasks for entry in entries)
        if plain is not None and not (unsettled and has_gang):
            assert [left for _, _, _, left in routed] == plain.route(entries)
            assert [plan.assigned for plan in self.plans] == [group.assigned for group in plain.groups]
            assert [plan.opened for plan in self.plans] == [group.opened for group in plain.groups]
        return routed

    with patch.object(Router, "route", both):
        run_cluster_scenario(parse_cluster_scenario(scenario))


@effort
@given(tpu_scenarios())
def test_what_is_in_flight_is_not_asked_for_again(scenario: Mapping) -> None:
    """The same demand once more, with all that was asked for under way: nothing new, but what a rate held back.

    That is so where tasks are alike. Of different ones the less particular take what is on its way first, by the agreed
    order of groups, also what was opened for others that fit nowhere else. And a buffer follows the work: meant for
    another group's slice now, it leaves that group's buffer to be filled.
    """

    def check(item: Seen) -> None:
        result = item.result
        if result.deferred or len({id(entry.shape) for entry in item.demand}) > 1:
            return
        again = core.run_cycle(result.state, item.observations, item.demand, item.now, "again")
        if again.status is CycleStatus.OK:
            assert sum(evaluation.deficit for evaluation in again.evaluations.values()) == 0
            assert [create for create in again.creates if not result.state.groups[create.group].buffer_slices] == []

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_every_task_is_waiting_running_or_done_and_every_waiting_job_is_explained(scenario: Mapping) -> None:
    run, seen = watched(scenario)
    for job in run.jobs.values():
        assert min(job.waiting, job.running, job.done) >= 0
        assert job.waiting + job.running + job.done == job.entry.tasks
        assert 0 <= job.placed <= job.waiting
    for item in seen:
        if not item.is_ok:
            continue
        hinted = {hint.job_id for hint in item.result.hints}
        for entry, seeker, placed, left in item.routed:
            on_ready = all(room.slice is not None and room.slice.state is SliceState.READY for room, *_ in placed)
            assert (entry.job_id in hinted) is not (on_ready and not left and seeker is not None)
        for hint in item.result.hints:
            assert hint.reason.startswith(f"{hint.code}: ")


@effort
@given(scenarios())
def test_a_blocked_group_buys_nothing_but_the_rest_of_a_gang(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        gangs = {name for name in item.held if name}
        for create in item.result.creates:
            outcome = item.result.evaluations[create.group].outcome
            made = item.result.state.slices[create.name]
            if not create.retry and outcome is not Outcome.AVAILABLE:
                assert made.gang_job in gangs

    each_cycle(scenario, check)


@effort
@given(scenarios())
def test_counts_agree_with_what_was_decided(scenario: Mapping) -> None:
    def check(item: Seen) -> None:
        result = item.result
        ups = Counter(action.group for action in result.actions if action.kind is ActionKind.SCALE_UP)
        downs = Counter(action.group for action in result.actions if action.kind is ActionKind.SCALE_DOWN)
        for name, evaluation in result.evaluations.items():
            assert evaluation.scale_up == ups[name]
            assert len(evaluation.scale_down) == downs[name]
            assert evaluation.target <= result.state.groups[name].max_slices
            assert evaluation.capacity_remaining >= 0
        assert sum(evaluation.assigned for evaluation in result.evaluations.values()) == sum(
            tasks for _, _, placed, _ in item.routed for _, tasks, _ in placed
        )

    each_cycle(scenario, check)
