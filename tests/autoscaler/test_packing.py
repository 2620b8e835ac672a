"""Section 3: tasks on workers."""

import pytest

from scaling.autoscaler.models import Usage, Worker
from scaling.autoscaler.packing import Free, after, empty_worker, how_many, owns_workers, worker_room
from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.shapes import UNIT, Need
from tests.autoscaler.cluster import cpu, gpu, job, play, pod, ready, tpu

GPUS: Free = (1 << 62, 1 << 62, 1 << 62, 8, ())


def share(part: float) -> Need:
    return Need(share=round(part * UNIT))


def test_shares_never_straddle_gpus() -> None:
    assert how_many(GPUS, share(0.6)) == 8
    assert how_many(GPUS, share(0.5)) == 16
    assert how_many(GPUS, share(0.46)) == 16
    assert how_many(GPUS, share(0.34)) == 16
    assert how_many(GPUS, share(0.1)) == 80


def test_a_share_goes_on_the_fullest_gpu_that_has_room() -> None:
    used = after(after(GPUS, share(0.6), 1), share(0.3), 2)

    assert used[3] == 6  # 0.6 and 0.3 on one GPU, 0.3 on a second
    assert used[4] == (round(0.1 * UNIT), round(0.7 * UNIT))


def test_a_whole_gpu_needs_one_that_nobody_shares() -> None:
    used = after(GPUS, share(0.1), 1)

    assert how_many(used, Need(devices=8)) == 0
    assert how_many(used, Need(devices=7)) == 1


def test_a_task_that_needs_nothing_fits_any_number_of_times() -> None:
    free = empty_worker(ScalingGroup({"name": "g", "worker_cpu": 1}))

    assert how_many(free, Need()) > 10**9
    assert after(free, Need(), 10**9) == free


def test_the_scarcest_resource_decides() -> None:
    free = empty_worker(ScalingGroup({"name": "g", "worker_cpu": 8, "worker_memory": 1000, "worker_disk": 10}))

    assert how_many(free, Need(cpu=UNIT, memory=300, disk=5)) == 2
    assert how_many(free, Need(cpu=UNIT, memory=600)) == 1
    assert how_many(free, Need(cpu=9 * UNIT)) == 0


def test_a_worker_with_an_unknown_load_has_no_room() -> None:
    group = ScalingGroup({"name": "g", "worker_cpu": 8})
    empty = empty_worker(group)

    assert worker_room(Worker(0), empty, owned=False) == empty
    assert worker_room(Worker(0, active_tasks=1), empty, owned=False) is None
    assert worker_room(Worker(0, unknown_since=3.0), empty, owned=False) is None
    assert worker_room(Worker(0, missing=1), empty, owned=False) is None
    used = Worker(0, active_tasks=1, used=Usage(cpu=3))
    assert worker_room(used, empty, owned=False) == (5 * UNIT, *empty[1:])
    assert worker_room(used, empty, owned=True) is None


def test_only_tpu_workers_belong_to_one_task() -> None:
    assert owns_workers(ScalingGroup(tpu("t")))
    assert not owns_workers(ScalingGroup(gpu("g")))
    assert not owns_workers(ScalingGroup(cpu("c")))


@pytest.mark.parametrize(
    ("tasks", "part", "slices"), [(3, 0.6, 1), (9, 0.6, 2), (17, 0.46, 2), (16, 0.46, 1), (80, 0.1, 1), (81, 0.1, 2)]
)
def test_shares_of_gpus_are_packed_into_slices(tasks: int, part: float, slices: int) -> None:
    played = play(groups=[gpu("g")], jobs=[job("a", tasks, {"gpu": part})])

    assert played.up("g") == slices


def test_small_tasks_fill_the_gaps_that_large_ones_leave() -> None:
    played = play(
        groups=[cpu("c", cores=8)],
        jobs=[
            job("large", 5, {"cpu": 6}, submitted=-30),
            job("small", 10, {"cpu": 1}, submitted=-20),
        ],
    )

    assert played.group("c")["deficit"] == 5


def test_a_task_on_a_tpu_worker_keeps_others_away_even_if_it_needs_little() -> None:
    played = play(
        groups=[tpu("t", worker_cpu=96)],
        jobs=[job("a", 3, {"cpu": 1}, allow_accelerators=True)],
    )

    assert played.up("t") == 3


def test_running_tasks_take_their_share_of_a_ready_worker() -> None:
    played = play(
        groups=[cpu("c", cores=8, max_slices=3)],
        slices=[ready("s", "c", idle=-5)],
        jobs=[job("first", 1, {"cpu": 5}, submitted=-9), job("second", 1, {"cpu": 4}, submitted=-8)],
        cloud={"boot_seconds": 1000},
        cycles=2,
    )

    assert played.job("first")["running"] == 1
    assert played.job("second")["running"] == 0
    assert played.ups("c") == [1, 0]


def test_workers_of_a_slice_are_filled_one_after_the_other() -> None:
    played = play(
        groups=[pod("p", workers=4)],
        slices=[ready("s", "p", idle=-5)],
        jobs=[job("a", 3), job("b", 1)],
    )

    assert played.totals["creates_sent"] == 0
    assert played.slices["s"]["active_tasks"] == 4
