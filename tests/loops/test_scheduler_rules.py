"""The scheduler's decision alone: what goes where, and what never happens."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling.autoscaler.models import DemandEntry, Drain, GroupControl, ScalingGroup, Slice, SliceState, Usage, Worker
from scaling.autoscaler.scheduling import Start
from scaling.loops.scheduler.decide import decide

GPU = {"device_type": "gpu", "device_variant": "h100", "devices_per_worker": 2}
TPU = {"device_type": "tpu", "device_variant": "v5p-16", "devices_per_worker": 4, "workers_per_slice": 2}
CPU = {"worker_cpu": 8, "worker_memory": 64}


def group(name: str, **fields: Any) -> ScalingGroup:
    return ScalingGroup({"name": name, "device_type": "cpu", "max_slices": 9} | fields)


class Yard:
    """A cluster's slices; each is named after its group and its number."""

    def __init__(self) -> None:
        self.slices: list[Slice] = []

    def slice(self, of: ScalingGroup, *workers: Worker, gang: str = "", state: SliceState = SliceState.READY) -> str:
        known = workers or tuple(Worker(index, idle_since=-1000.0) for index in range(of.workers_per_slice))
        name = f"{of.name}-{len(self.slices)}"
        here = known if state is SliceState.READY else ()
        self.slices.append(Slice(name, of.name, state, ready_since=-2000.0, workers=here, gang_job=gang))
        return name


def job(job_id: str, tasks: int = 1, **fields: Any) -> DemandEntry:
    return DemandEntry(job_id=job_id, tasks=tasks, **fields)


def placed(found: Sequence[Start]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for item in found:
        counts[item.entry.job_id] += item.tasks
    return dict(counts)


def where(found: Sequence[Start], job_id: str) -> list[str]:
    return [item.slice for item in found if item.entry.job_id == job_id]


def run(groups: list[ScalingGroup], yard: Yard, *jobs: DemandEntry, most: int = 1_000_000) -> list[Start]:
    return decide(groups, {}, yard.slices, jobs, 0.0, most)


# -- where work goes


def test_the_same_requirements_hold_as_for_buying() -> None:
    yard = Yard()
    spot = group("tpu-spot", capacity_type="preemptible", zone="us-east5-a", **TPU)
    firm = group("cpu-firm", zone="us-central1-a", **CPU)
    yard.slice(spot)
    yard.slice(firm)
    found = run(
        [spot, firm],
        yard,
        job("production", resources={"tpu": 1}, tier="production"),
        job("elsewhere", resources={"cpu": 1}, constraints=["us-east5-a"]),
        job("other-variant", resources={"tpu": {"variant": "v6e-8"}}),
        job("no-accelerator", resources={"cpu": 1}, constraints=["tpu"]),
        job("allowed", resources={"tpu": 1}, tier="production", allow_preemptible=True),
        job("beside", resources={"cpu": 1}, constraints=["preemptible"], allow_accelerators=True),
        job("cpu", resources={"cpu": "500m"}, constraints=[{"key": "zone", "values": ["us-central1-a"]}]),
    )
    assert placed(found) == {"allowed": 1, "beside": 1, "cpu": 1}


def test_preferred_constraints_come_before_priority_and_priority_before_name() -> None:
    yard, groups = Yard(), [group("b", priority=1), group("a", priority=5), group("c", priority=5, zone="z")]
    names = {of.name: yard.slice(of) for of in groups}
    preferring = job(
        "p", resources={"cpu": 1}, constraints=[{"key": "zone", "operator": "EXISTS", "mode": "preferred"}]
    )
    found = run(groups, yard, preferring, job("q", resources={"cpu": 1}))
    assert where(found, "p") == [names["c"]]
    assert where(found, "q") == [names["b"]]


def test_a_job_spreads_over_workers_and_groups_and_takes_what_there_is() -> None:
    yard, first, second = Yard(), group("a", **CPU), group("b", **CPU)
    yard.slice(first)
    yard.slice(second)
    found = run([first, second], yard, job("j", tasks=9, resources={"cpu": 2}))
    assert [(item.slice, item.tasks) for item in found] == [("a-0", 4), ("b-1", 4)]


def test_slices_with_work_fill_up_first_then_the_last_to_fall_idle() -> None:
    yard, of = Yard(), group("g", **CPU)
    yard.slice(of, Worker(0, idle_since=-900.0))
    yard.slice(of, Worker(0, active_tasks=1, used=Usage(cpu=6)))
    yard.slice(of, Worker(0, idle_since=-10.0))
    found = run([of], yard, job("j", tasks=5, resources={"cpu": 2}))
    assert where(found, "j") == ["g-1", "g-2"]


def test_every_kind_of_room_counts() -> None:
    yard, of = Yard(), group("g", worker_cpu=8, worker_memory=100, worker_disk=50, **GPU)
    yard.slice(of)
    found = run(
        [of],
        yard,
        job("memory", tasks=5, resources={"gpu": 0.1, "memory": 45}, priority=3),
        job("disk", tasks=5, resources={"gpu": 0.1, "disk": 30}, priority=2),
        job("gpus", tasks=5, resources={"gpu": 1}, priority=1),
    )
    assert placed(found) == {"memory": 2, "disk": 1, "gpus": 1}


def test_a_share_never_straddles_two_gpus() -> None:
    yard, of = Yard(), group("g", **GPU)
    yard.slice(of)
    found = run([of], yard, job("j", tasks=3, resources={"gpu": 0.6}))
    assert placed(found) == {"j": 2}


def test_shares_and_whole_gpus_that_are_taken_already_count() -> None:
    yard, of = Yard(), group("g", **GPU)
    yard.slice(of, Worker(0, active_tasks=2, used=Usage(gpus=(1.0, 0.7))))
    found = run([of], yard, job("big", resources={"gpu": 0.4}, priority=2), job("small", resources={"gpu": 0.3}))
    assert placed(found) == {"small": 1}


def test_when_old_shares_seem_to_need_more_gpus_than_there_are_nothing_more_starts_there() -> None:
    yard, of = Yard(), group("g", worker_cpu=8, **GPU)
    yard.slice(of, Worker(0, active_tasks=4, used=Usage(gpus=(0.9, 0.6, 0.5))))
    gpu, cpu = job("gpu", resources={"gpu": 0.1}), job("cpu", resources={"cpu": 1}, allow_accelerators=True)
    assert run([of], yard, gpu, cpu) == []


def test_a_tpu_worker_belongs_to_one_task_whatever_it_needs() -> None:
    yard, of = Yard(), group("g", **TPU)
    yard.slice(of)
    found = run([of], yard, job("j", resources={"tpu": 1}), job("k", tasks=4, resources={"tpu": 4}))
    assert sorted((item.worker, item.tasks) for item in found) == [(0, 1), (1, 1)]


def test_silent_and_foreign_used_workers_get_nothing_and_a_missing_one_closes_its_slice() -> None:
    yard, of = Yard(), group("g", workers_per_slice=3, **CPU)
    foreign = Worker(2, active_tasks=1, used=None)
    yard.slice(of, Worker(0, unknown_since=-5.0), Worker(1), foreign)
    yard.slice(of, Worker(0, missing=1), Worker(1), Worker(2))
    found = run([of], yard, job("j", tasks=100, resources={"cpu": 1}))
    assert [(item.slice, item.worker, item.tasks) for item in found] == [("g-0", 1, 8)]


def test_draining_groups_and_slices_get_nothing() -> None:
    yard, of = Yard(), group("g", **CPU)
    yard.slice(of)
    drained = {"g": GroupControl(drain=Drain(-10.0))}
    assert decide([of], drained, yard.slices, [job("j", resources={"cpu": 1})], 0.0, 10) == []


def test_room_that_was_long_unused_serves_a_job_that_has_waited_long() -> None:
    yard, of = Yard(), group("g", **CPU)
    yard.slice(of, Worker(0, idle_since=-5000.0))
    assert placed(run([of], yard, job("j", resources={"cpu": 1}, submitted=-9000.0))) == {"j": 1}


# -- gangs


def test_a_gang_needs_whole_slices_of_one_group() -> None:
    yard, first, second = Yard(), group("a", **TPU), group("b", **TPU)
    for of in (first, second):
        yard.slice(of)
    yard.slice(second, Worker(0), Worker(1, active_tasks=1))
    gang = job("g", tasks=4, resources={"tpu": 1}, gang=True)
    assert run([first, second], yard, gang) == []
    yard.slice(second)
    found = run([first, second], yard, gang)
    assert where(found, "g") == ["b-1", "b-1", "b-3", "b-3"]
    assert len({(item.slice, item.worker) for item in found}) == 4


def test_a_gang_that_does_not_divide_into_slices_or_whose_own_still_boot_is_not_placed() -> None:
    yard, of, other = Yard(), group("a", **TPU), group("b", **TPU)
    for _ in range(2):
        yard.slice(of)
    assert run([of, other], yard, job("odd", tasks=3, resources={"tpu": 1}, gang=True)) == []
    gang = job("g", tasks=4, resources={"tpu": 1}, gang=True)
    assert placed(run([of, other], yard, gang)) == {"g": 4}
    yard.slice(other, gang="g", state=SliceState.BOOTING)
    assert run([of, other], yard, gang) == []


def test_a_gang_takes_the_slices_kept_for_it_first() -> None:
    yard, of = Yard(), group("a", **TPU)
    yard.slice(of)
    yard.slice(of, gang="g")
    gang = job("g", tasks=2, resources={"tpu": 1}, gang=True)
    other = job("o", tasks=4, resources={"tpu": 1}, priority=500)
    found = run([of], yard, gang, other)
    assert where(found, "g") == ["a-1", "a-1"]
    assert placed(found) == {"g": 2, "o": 2}


def test_a_gang_that_asks_for_something_else_than_what_was_bought_for_it_has_no_claim_to_it() -> None:
    yard, gpus, tpus = Yard(), group("a", **GPU), group("b", **TPU)
    yard.slice(gpus, gang="g")
    yard.slice(tpus)
    found = run([gpus, tpus], yard, job("g", tasks=2, resources={"tpu": 1}, gang=True), job("j", resources={"gpu": 2}))
    assert placed(found) == {"g": 2, "j": 1}
    yard.slice(tpus, gang="odd")
    assert placed(run([tpus], yard, job("odd", resources={"tpu": 1}, gang=True))) == {}


def test_a_small_gang_is_still_placed_after_a_large_one_found_too_little() -> None:
    yard, of = Yard(), group("a", **TPU)
    yard.slice(of)
    large, small = (job(name, tasks=n, resources={"tpu": 1}, gang=True) for name, n in (("large", 4), ("small", 2)))
    assert placed(run([of], yard, large, small)) == {"small": 2}


def test_a_round_starts_so_many_tasks_and_more_only_to_complete_a_gang() -> None:
    yard, cpu, tpu = Yard(), group("c", **CPU), group("t", **TPU)
    for of in (cpu, tpu, tpu):
        yard.slice(of)
    waiting = [
        job("first", tasks=2, resources={"cpu": 1}, priority=300),
        job("gang", tasks=4, resources={"tpu": 1}, gang=True, priority=200),
        job("last", resources={"cpu": 1}),
    ]
    started = [placed(run([cpu, tpu], yard, *waiting, most=most)) for most in (1, 3, 7)]
    assert started == [{"first": 1}, {"first": 2, "gang": 4}, {"first": 2, "gang": 4, "last": 1}]


# -- what never happens


amounts = st.sampled_from([0, 1, 2, 3, 5, 8])
shares = st.sampled_from([0.1, 0.25, 0.3, 0.46, 0.5, 0.6, 0.75, 0.9])


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[ScalingGroup], Yard]:
    yard, groups = Yard(), []
    for number in range(draw(st.integers(1, 4))):
        fields = dict(draw(st.sampled_from([GPU, TPU, {}])))
        fields["workers_per_slice"] = draw(st.integers(1, 3))
        fields["capacity_type"] = draw(st.sampled_from(["on_demand", "preemptible"]))
        fields |= {"worker_cpu": draw(st.sampled_from([0, 4, 8])), "worker_memory": draw(st.sampled_from([0, 16]))}
        of = group(f"g{number}", priority=draw(st.integers(0, 2)), **fields)
        groups.append(of)
        for _ in range(draw(st.integers(0, 4))):
            workers = [draw(a_worker(index, of)) for index in range(of.workers_per_slice)]
            yard.slice(of, *workers, gang=draw(st.sampled_from(["", "", "j0", "j1"])))
    return groups, yard


@st.composite
def a_worker(draw: st.DrawFn, index: int, of: ScalingGroup) -> Worker:
    if draw(st.integers(0, 9)) == 0:
        return Worker(index, unknown_since=-1.0)
    if draw(st.booleans()):
        return Worker(index, idle_since=-float(draw(st.integers(0, 900))))
    gpus = tuple(draw(st.lists(shares, max_size=of.devices_per_worker)))
    return Worker(index, active_tasks=1, used=Usage(cpu=draw(st.integers(0, 4)), memory=2, gpus=gpus))


@st.composite
def jobs(draw: st.DrawFn) -> list[DemandEntry]:
    found = []
    for number in range(draw(st.integers(1, 12))):
        device = draw(st.sampled_from([{}, {"tpu": 1}, {"gpu": draw(shares)}, {"gpu": draw(st.integers(1, 2))}]))
        found.append(
            job(
                f"j{number}",
                tasks=draw(st.integers(1, 7)),
                resources={"cpu": draw(amounts), "memory": draw(amounts)} | device,
                tier=draw(st.sampled_from(["production", "batch"])),
                gang=draw(st.integers(0, 3)) == 0,
                priority=draw(st.integers(0, 3)),
                allow_accelerators=draw(st.booleans()),
            )
        )
    return found


@settings(max_examples=400)
@given(cluster=clusters(), waiting=jobs())
def test_no_worker_is_ever_over_packed_and_every_rule_holds(
    cluster: tuple[list[ScalingGroup], Yard], waiting: list[DemandEntry]
) -> None:
    groups, yard = cluster
    found = run(groups, yard, *waiting)
    known = {of.name: of for of in groups}
    slices = {item.name: item for item in yard.slices}
    by_worker: dict[tuple[str, int], list[Start]] = defaultdict(list)
    for item in found:
        by_worker[item.slice, item.worker].append(item)
        holds_for_its_job(item, slices[item.slice], known)
    for (name, index), items in by_worker.items():
        fits(known[slices[name].group], slices[name].workers[index], items)
    for entry in waiting:
        mine = [item for item in found if item.entry.job_id == entry.job_id]
        assert sum(item.tasks for item in mine) <= entry.tasks
        if mine and entry.shape is not None and entry.shape.gang_tasks:
            gang_is_whole(mine, entry, slices, known)


def holds_for_its_job(item: Start, on: Slice, known: dict[str, ScalingGroup]) -> None:
    of, shape = known[on.group], item.entry.shape
    assert shape is not None
    assert of.device_type == shape.device_type or (shape.device_type == "cpu" and shape.allow_accelerators)
    assert not (shape.needs_firm and of.capacity_type == "preemptible")
    assert on.workers[item.worker].unknown_since is None
    assert item.tasks > 0


def fits(of: ScalingGroup, worker: Worker, items: list[Start]) -> None:
    """Checked by hand, in plain numbers and by trying every way to put shares on GPUs."""
    needs = [item.entry.shape.need for item in items if item.entry.shape for _ in range(item.tasks)]
    if of.device_type == "tpu":
        assert len(needs) == 1
        assert not worker.active_tasks
        return
    used = worker.used or Usage()
    if of.worker_cpu:
        assert used.cpu + sum(need.cpu for need in needs) / 1e6 <= of.worker_cpu
    if of.worker_memory:
        assert used.memory + sum(need.memory for need in needs) <= of.worker_memory
    gpus = [round(share * 1e6) for share in used.gpus]
    gpus += [0] * (of.devices_per_worker - len(gpus))
    wanted = [1_000_000] * sum(need.devices for need in needs) + [need.share for need in needs if need.share]
    assert can_hold(gpus, sorted(wanted, reverse=True))


def can_hold(gpus: list[int], wanted: list[int]) -> bool:
    if not wanted:
        return True
    first, rest = wanted[0], wanted[1:]
    for taken in sorted(set(gpus)):
        if taken + first <= 1_000_000:
            after = list(gpus)
            after[after.index(taken)] += first
            if can_hold(after, rest):
                return True
    return False


def gang_is_whole(
    mine: list[Start], entry: DemandEntry, slices: dict[str, Slice], known: dict[str, ScalingGroup]
) -> None:
    (of,) = {slices[item.slice].group for item in mine}
    assert len({(item.slice, item.worker) for item in mine}) == len(mine) == entry.tasks
    assert len({item.slice for item in mine}) * known[of].workers_per_slice == entry.tasks


@settings(max_examples=100)
@given(cluster=clusters(), waiting=jobs(), order=st.randoms(use_true_random=False))
def test_the_order_in_which_things_are_read_changes_nothing(
    cluster: tuple[list[ScalingGroup], Yard], waiting: list[DemandEntry], order: Any
) -> None:
    groups, yard = cluster
    first = run(groups, yard, *waiting)
    for items in (groups, yard.slices, waiting):
        order.shuffle(items)
    assert run(groups, yard, *waiting) == first


@pytest.mark.parametrize("kind", [CPU, GPU, TPU])
def test_no_room_and_no_jobs_are_no_trouble(kind: dict[str, Any]) -> None:
    of = group("g", **kind)
    assert run([of], Yard(), job("j", resources={"cpu": 1})) == []
    yard = Yard()
    yard.slice(of)
    assert run([of], yard) == []
