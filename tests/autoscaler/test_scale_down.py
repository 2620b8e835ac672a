"""Section 7: what may go, and what may not."""

from dataclasses import replace

from scaling.autoscaler.models import Slice, SliceState, Worker
from scaling.autoscaler.reclaim import reason_to_go
from scaling.autoscaler.rooms import idle_since
from scaling.autoscaler.scaling_group import ScalingGroup
from tests.autoscaler.cluster import SLOW, booting, cpu, job, marker, play, pod, ready, tpu

GROUP = ScalingGroup(pod("p", workers=3))


def slice_of(*workers: Worker, state: SliceState = SliceState.READY) -> Slice:
    return Slice("s", "p", state, created=0, ready_since=0, workers=workers)


def test_a_slice_is_idle_since_its_last_worker_became_idle() -> None:
    assert idle_since(slice_of(Worker(0, idle_since=5), Worker(1, idle_since=9))) == 9
    assert idle_since(slice_of(Worker(0, idle_since=5), Worker(1, active_tasks=1))) is None


def test_silent_workers_are_left_out_and_one_known_worker_is_needed() -> None:
    silent = Worker(1, idle_since=50, unknown_since=60)

    assert idle_since(slice_of(Worker(0, idle_since=5), silent)) == 5
    assert idle_since(slice_of(silent)) is None
    assert idle_since(slice_of()) is None


def test_a_silent_worker_with_a_task_keeps_its_slice() -> None:
    assert idle_since(slice_of(Worker(0, idle_since=5), Worker(1, active_tasks=1, unknown_since=60))) is None


def test_a_worker_of_unknown_age_has_been_idle_since_the_slice_was_ready() -> None:
    assert idle_since(slice_of(Worker(0))) == 0
    assert idle_since(replace(slice_of(Worker(0)), ready_since=None)) is None


def test_exactly_the_threshold_may_go() -> None:
    item = slice_of(Worker(0, idle_since=0))

    assert reason_to_go(item, GROUP, None, now=300)
    assert not reason_to_go(item, GROUP, None, now=299.9)


def test_a_slice_that_is_told_to_go_is_not_told_again() -> None:
    item = replace(slice_of(Worker(0, idle_since=0), state=SliceState.DRAINING), delete_asked_at=5.0)

    assert not reason_to_go(item, GROUP, None, now=9000)


def test_equally_idle_slices_go_in_the_order_of_their_names() -> None:
    played = play(
        groups=[tpu("t", min_slices=1)], slices=[ready("b", "t", -500), ready("a", "t", -500), ready("c", "t", -500)]
    )

    assert played.down("t") == ["a", "b"]


def test_the_buffer_stays() -> None:
    played = play(
        groups=[tpu("t", buffer_slices=1)],
        slices=[ready("a", "t", -500), ready("b", "t", -600), ready("busy", "t", idle=None)],
    )

    assert played.down("t") == ["b"]


def test_silent_and_drained_slices_do_not_count_as_ready_left_where_they_are_drained() -> None:
    played = play(
        groups=[tpu("t", min_slices=1)],
        slices=[ready("a", "t", -500), ready("b", "t", -100)],
        events=[{"at": 0, "drain_slice": "b"}],
    )

    # b is on its way out: the floor of one needs a
    assert played.down("t") == []
    assert played.up("t") == 0


def test_a_planned_task_keeps_the_slice_idle_for_the_shorter_time() -> None:
    played = play(groups=[tpu("t")], slices=[ready("old", "t", -900), ready("new", "t", -400)], jobs=[job("j")])

    assert played.down("t") == ["old"]
    assert played.slices["new"]["active_tasks"] == 1


def test_tasks_go_where_others_run_so_that_idle_slices_can_go() -> None:
    played = play(
        groups=[cpu("c", cores=8)],
        slices=[ready("a-idle", "c", -20), ready("b-busy", "c", -10)],
        jobs=[job("first", 1, {"cpu": 2}, submitted=-9), job("second", 1, {"cpu": 2}, submitted=-8)],
        cycles=2,
    )

    assert {name: item["active_tasks"] for name, item in played.slices.items()} == {"a-idle": 0, "b-busy": 2}


def test_blocked_and_paused_groups_shrink_as_well() -> None:
    for events in ([], [{"at": 0, "pause_group": "t"}]):
        played = play(
            groups=[tpu("t")], slices=[ready("a", "t", -500)], markers=[marker("t", "stockout")], events=events
        )
        assert played.down("t") == ["a"]


def test_a_slice_that_recovers_gets_a_whole_new_window() -> None:
    def gone(silence: list[object]) -> list[int]:
        played = play(groups=[tpu("t")], slices=[ready("a", "t", -100)], events=silence, cycles=12, every=50)
        return [n for n in range(12) if played.down("t", n)]

    assert gone([]) == [4]
    assert gone([{"at": 60, "worker_unknown": "a", "for": 30}]) == [8]  # back at 90, 300 s later is 390


def test_while_no_worker_is_known_nothing_goes() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("a", "t", -290)],
        events=[{"at": 5, "worker_unknown": "a", "for": 5000}],
        cycles=8,
        every=100,
    )

    assert all(not played.down("t", n) for n in range(8))


def test_a_silent_worker_takes_no_tasks() -> None:
    played = play(
        groups=[pod("p", workers=2, max_slices=1)],
        slices=[ready("a", "p", -20)],
        events=[{"at": 0, "worker_unknown": "a", "for": 25}],
        jobs=[job("j", 2)],
        cycles=3,
    )

    assert played.group("p", 1)["assigned"] == 0
    assert played.job("j") == {"pending": 1, "placed": 0, "running": 1, "done": 0}


def test_a_worker_that_comes_back_takes_tasks_at_once() -> None:
    played = play(
        groups=[pod("p", workers=2, max_slices=1)],
        slices=[ready("a", "p", -20)],
        events=[{"at": 0, "worker_unknown": "a", "for": 5}],
        jobs=[job("j", 2, run_seconds=100)],
        cycles=12,
    )

    assert played.job("j")["done"] == 2  # the last of them from 5 to 105


def test_a_slice_is_given_up_after_exactly_fifteen_minutes_of_silence() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("a", "t", idle=None)],
        events=[{"at": 0, "worker_unknown": "a"}],
        cycles=10,
        every=100,
    )

    assert [n for n in range(10) if played.kinds(n)["slice_lost"]] == [9]


def test_released_slices_count_as_terminated_and_are_gone_in_the_next_cycle() -> None:
    played = play(groups=[tpu("t", max_slices=1)], slices=[ready("a", "t", -500)], cycles=2)

    assert played.totals["terminated"] == 1
    assert played.group("t", 1)["capacity_remaining"] == 1
    assert played.slices == {}


def test_a_slice_released_in_the_last_cycle_is_on_its_way_out() -> None:
    played = play(groups=[tpu("t")], slices=[ready("a", "t", -500)])

    assert played.slices["a"]["state"] == "TERMINATING"


def test_growth_elsewhere_in_the_same_group_keeps_what_it_uses_only() -> None:
    played = play(
        groups=[tpu("t", zone="z1")],
        slices=[ready("a", "t", -500), ready("b", "t", -600), booting("c", "t")],
        jobs=[job("j", 1)],
        cloud=SLOW,
    )

    # the job is given a, which leaves b to go although c is only booting
    assert played.down("t") == ["b"]


# -- drains


def test_a_drained_group_keeps_neither_floor_nor_buffer() -> None:
    played = play(
        groups=[tpu("t", min_slices=2, buffer_slices=3, idle_threshold=10)],
        slices=[ready("a", "t", -500), ready("b", "t", -500)],
        events=[{"at": 0, "drain_group": "t"}],
    )

    assert played.down("t") == ["a", "b"]
    assert (played.up("t"), played.group("t")["target"]) == (0, 0)


def test_a_drained_group_takes_no_demand_on_any_of_its_slices() -> None:
    played = play(
        groups=[tpu("t", priority=1), tpu("u", priority=2)],
        slices=[ready("a", "t", -5), booting("b", "t")],
        events=[{"at": 0, "drain_group": "t"}],
        jobs=[job("j", 2)],
        cloud=SLOW,
    )

    assert (played.group("t")["assigned"], played.up("u")) == (0, 2)
    assert played.slices["a"]["active_tasks"] == 0


def test_running_tasks_of_a_drained_group_run_to_their_end() -> None:
    played = play(
        groups=[tpu("t", idle_threshold=10)],
        slices=[ready("a", "t", -5)],
        events=[{"at": 5, "drain_group": "t"}],
        jobs=[job("j", 1, run_seconds=60)],
        cycles=10,
    )

    assert played.job("j")["done"] == 1
    assert [n for n in range(10) if played.down("t", n)] == [8]  # idle since 60, for 20


def test_a_deadline_ends_what_is_still_busy_and_its_tasks_wait_again() -> None:
    played = play(
        groups=[tpu("t", priority=1), tpu("u", priority=2)],
        slices=[ready("a", "t", -5)],
        events=[{"at": 5, "drain_group": "t", "deadline": 30}],
        jobs=[job("j", 1)],
        cloud=SLOW,
        cycles=5,
    )

    assert [played.down("t", n) for n in range(5)] == [[], [], [], ["a"], []]
    assert played.ups("u") == [0, 0, 0, 0, 1]
    assert played.totals["terminated"] == 1


def test_what_boots_after_the_deadline_goes_as_soon_as_it_is_ready() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[booting("a", "t", -10)],
        cloud={"boot_seconds": 50},
        events=[{"at": 5, "drain_group": "t", "deadline": 20}],
        cycles=6,
    )

    assert [n for n in range(6) if played.down("t", n)] == [4]


def test_a_drained_slice_counts_for_max_and_not_for_the_target() -> None:
    played = play(
        groups=[tpu("t", min_slices=2, max_slices=3)],
        slices=[ready("a", "t", idle=None), ready("b", "t", -20)],
        events=[{"at": 5, "drain_slice": "a"}],
        cloud=SLOW,
        cycles=2,
    )

    assert played.up("t", 1) == 1
    assert played.group("t", 1)["slices"]["DRAINING"] == 1
    assert played.group("t", 1)["capacity_remaining"] == 1


def test_a_drained_slice_waits_the_longer_window() -> None:
    played = play(
        groups=[tpu("t", min_slices=2)],
        slices=[ready("a", "t", -430), ready("b", "t", -10)],
        events=[{"at": 5, "drain_slice": "a"}],
        cloud=SLOW,
        cycles=4,
        every=100,
    )

    assert [played.down("t", n) for n in range(4)] == [[], [], ["a"], []]


def test_a_drained_slice_that_still_boots_serves_nobody() -> None:
    played = play(
        groups=[tpu("t", idle_threshold=10)],
        slices=[booting("a", "t", -50)],
        events=[{"at": 0, "drain_slice": "a"}],
        jobs=[job("j", 1)],
        cloud={"boot_seconds": 55},
        cycles=4,
    )

    assert played.ups("t") == [1, 0, 0, 0]
    assert played.job("j")["running"] == 0
    assert [n for n in range(4) if played.down("t", n)] == [3]  # ready at 5, idle for 20 at 25


def test_a_drained_slice_may_have_a_deadline() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("a", "t", idle=None)],
        events=[{"at": 5, "drain_slice": "a", "deadline": 20}],
        cycles=3,
    )

    assert [played.down("t", n) for n in range(3)] == [[], [], ["a"]]


def test_operators_acts_are_actions_of_the_next_cycle() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("a", "t", idle=None)],
        events=[
            {"at": 1, "drain_group": "t"},
            {"at": 2, "undrain_group": "t"},
            {"at": 3, "pause_group": "t"},
            {"at": 4, "resume_group": "t"},
            {"at": 5, "drain_slice": "a"},
        ],
        cycles=2,
    )

    kinds = [action["kind"] for action in played.output["cycles"][1]["actions"]]
    assert kinds == ["drain", "undrain", "pause", "resume", "drain"]
