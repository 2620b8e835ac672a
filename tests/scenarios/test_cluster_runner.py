"""Section 9: the virtual clock, the scripted cloud and the tasks."""

import pytest

from tests.autoscaler.cluster import SLOW, STOCKOUT, TRANSIENT, booting, cpu, gpu, job, play, pod, ready, tpu


def test_cycles_are_at_multiples_of_every() -> None:
    played = play(groups=[tpu("t")], cycles=4, every=7.5)

    assert [cycle["at"] for cycle in played.output["cycles"]] == [0, 7.5, 15, 22.5]


def test_one_cycle_is_the_default() -> None:
    assert len(play(groups=[tpu("t")]).output["cycles"]) == 1


def test_tasks_start_after_the_plan_at_zero_then_the_moment_room_is_ready() -> None:
    played = play(
        groups=[tpu("t", max_slices=2)],
        slices=[ready("r", "t"), booting("b", "t", -55)],
        jobs=[job("j", 2, run_seconds=20)],
        cloud={"boot_seconds": 60},
        cycles=4,
    )

    # one from 0 to 20, the other from 5 to 25
    assert played.group("t", 1)["assigned"] == 0
    assert played.group("t", 0)["assigned"] == 2
    assert played.job("j") == {"pending": 0, "placed": 0, "running": 0, "done": 2}


def test_a_slice_bought_at_a_cycle_is_ready_boot_seconds_later() -> None:
    played = play(groups=[tpu("t")], jobs=[job("j")], cloud={"boot_seconds": 25}, cycles=4)

    assert [played.group("t", n)["slices"]["READY"] for n in range(4)] == [0, 0, 0, 1]
    assert played.kinds(3)["slice_ready"] == 1


def test_a_slice_ready_at_a_cycles_own_time_is_seen_in_it() -> None:
    played = play(groups=[tpu("t")], jobs=[job("j")], cloud={"boot_seconds": 20}, cycles=3)

    assert played.group("t", 2)["slices"]["READY"] == 1
    assert played.job("j")["running"] == 1


def test_a_boot_time_of_zero_is_ready_at_once() -> None:
    played = play(groups=[tpu("t")], jobs=[job("j")], cloud={"boot_seconds": 0})

    assert played.job("j")["running"] == 1


def test_a_slice_that_got_ready_is_idle_from_then_on() -> None:
    played = play(
        groups=[tpu("t", min_slices=0, buffer_slices=0)],
        slices=[booting("b", "t", -55)],
        cloud={"boot_seconds": 60},
        cycles=4,
        every=101,
    )

    assert [played.down("t", n) for n in range(4)] == [[], [], [], []]
    later = play(groups=[tpu("t")], slices=[booting("b", "t", -55)], cloud={"boot_seconds": 60}, cycles=2, every=305)
    assert later.down("t", 1) == ["b"]


def test_a_task_that_ends_at_a_cycles_own_time_has_ended_in_it() -> None:
    played = play(
        groups=[tpu("t", max_slices=1)],
        slices=[ready("r", "t")],
        jobs=[job("a", run_seconds=10, submitted=-50), job("b")],
        cycles=2,
    )

    assert played.job("a")["done"] == 1
    assert played.job("b")["running"] == 1
    assert played.hints(1) == {}


def test_an_event_at_a_cycles_own_time_comes_first() -> None:
    played = play(groups=[tpu("t", max_slices=1)], events=[{"at": 0, "set_group": "t", "min_slices": 1}])

    assert played.up("t") == 1


def test_events_before_the_start_have_happened() -> None:
    played = play(groups=[tpu("t")], events=[{"at": -100, "drain_group": "t"}])

    assert played.outcome("t") == "DRAINING"
    assert played.kinds() == {"drain": 1}


def test_events_of_one_time_happen_in_the_order_of_the_file() -> None:
    played = play(
        groups=[tpu("t")],
        events=[
            {"at": 5, "pause_group": "t"},
            {"at": 1, "drain_group": "t"},
            {"at": 5, "resume_group": "t"},
            {"at": 5, "undrain_group": "t"},
        ],
        cycles=2,
    )

    assert [action["kind"] for action in played.output["cycles"][1]["actions"]] == [
        "drain",
        "pause",
        "resume",
        "undrain",
    ]


def test_a_job_that_is_done_leaves_the_demand_and_frees_its_slices() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("r", "t")],
        jobs=[job("j", 3)],
        cloud=SLOW,
        events=[{"at": 5, "job_done": "j"}],
        cycles=2,
    )

    assert played.job("j") == {"pending": 0, "placed": 0, "running": 0, "done": 3}
    assert played.slices["r"]["idle_since"] == 5
    assert played.hints(1) == {}


def test_a_bad_job_that_is_done_has_no_hint_any_more() -> None:
    played = play(groups=[tpu("t")], jobs=[job("j", 0)], events=[{"at": 5, "job_done": "j"}], cycles=2)

    assert (played.code("j", 0), played.code("j", 1)) == ("invalid_request", None)


def test_active_tasks_hold_whole_workers_for_good() -> None:
    played = play(
        groups=[cpu("c", workers_per_slice=3, max_slices=1)],
        slices=[{"id": "s", "group": "c", "state": "READY", "active_tasks": 2, "created": -900}],
        jobs=[job("j", 3, {"cpu": 4}, submitted=0)],
        cycles=3,
    )

    assert played.job("j")["running"] == 2
    assert played.slices["s"]["active_tasks"] == 4


def test_an_idle_slice_without_idle_since_has_been_idle_since_it_was_created() -> None:
    played = play(groups=[tpu("t")], slices=[{"id": "s", "group": "t", "state": "READY", "created": -400}])

    assert played.down("t") == ["s"]


def test_an_existing_request_is_not_sent_again_and_gets_ready() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[booting("q", "t", -50, state="REQUESTING")],
        jobs=[job("j")],
        cloud={"boot_seconds": 60},
        cycles=3,
    )

    assert played.totals["creates_sent"] == 0
    assert [played.group("t", n)["slices"]["REQUESTING"] for n in range(3)] == [1, 0, 0]
    assert played.job("j")["running"] == 1


# -- the cloud


def test_a_rule_applies_after_so_many_accepted_creates_of_its_group() -> None:
    played = play(
        groups=[tpu("t", zone="z1"), tpu("u", zone="z2")],
        jobs=[job("a", 4, constraints=["z1"]), job("b", 4, constraints=["z2"])],
        cloud={"boot_seconds": 500, "fail": [{"group": "t", "after": 3, "error": STOCKOUT}]},
    )

    assert (played.totals["creates_accepted"], played.totals["creates_failed"]) == (7, 1)


def test_the_first_rule_that_applies_wins() -> None:
    played = play(
        groups=[tpu("t")],
        jobs=[job("a", 2)],
        cloud={"fail": [{"group": "t", "after": 1, "error": TRANSIENT}, {"group": "t", "error": STOCKOUT}]},
    )

    assert set(played.markers) == {("t", "stockout")}


def test_a_rule_without_a_group_holds_for_all() -> None:
    played = play(
        groups=[tpu("t", priority=1), tpu("u")],
        jobs=[job("a", 2)],
        cloud={"fail": [{"error": STOCKOUT}]},
        cycles=2,
    )

    assert set(played.markers) == {("t", "stockout"), ("u", "stockout")}


@pytest.mark.parametrize(("start", "end", "failed"), [(None, 10, 1), (10, None, 1), (10, 20, 1), (0, 10, 1)])
def test_a_rule_may_hold_for_a_time(start: float | None, end: float | None, failed: int) -> None:
    rule = {"group": "t", "error": TRANSIENT} | ({} if start is None else {"from": start})
    rule |= {} if end is None else {"until": end}
    played = play(
        groups=[tpu("t", min_slices=1)],
        cloud={"boot_seconds": 5000, "fail": [rule]},
        events=[{"at": 10, "set_group": "t", "min_slices": 2}],
        cycles=2,
    )

    assert played.totals["creates_failed"] == failed


def test_a_late_failure_counts_as_accepted_and_is_seen_when_it_happens() -> None:
    played = play(
        groups=[tpu("t")],
        jobs=[job("j")],
        cloud={"boot_seconds": 500, "fail": [{"group": "t", "error": STOCKOUT, "late": 20}]},
        cycles=3,
    )

    assert (played.totals["creates_accepted"], played.totals["creates_failed"]) == (1, 0)
    assert [played.kinds(n)["slice_failed"] for n in range(3)] == [0, 0, 1]
    assert played.slices == {}


def test_a_failure_later_than_the_boot_is_a_loss() -> None:
    played = play(
        groups=[tpu("t")],
        jobs=[job("j")],
        cloud={"boot_seconds": 5, "fail": [{"group": "t", "error": "preempted", "late": 15, "until": 5}]},
        cycles=3,
    )

    assert played.kinds(1)["slice_ready"] == 1
    assert played.kinds(2)["slice_lost"] == 1
    assert played.job("j") == {"pending": 1, "placed": 0, "running": 0, "done": 0}


def test_an_answer_that_the_slice_exists_already_is_success() -> None:
    played = play(
        groups=[tpu("t")],
        jobs=[job("j")],
        cloud={"boot_seconds": 15, "fail": [{"group": "t", "error": "409 The resource 't-1' already exists"}]},
        cycles=3,
    )

    assert (played.totals["creates_accepted"], played.totals["creates_failed"]) == (1, 0)
    assert played.job("j")["running"] == 1


def test_a_listing_error_without_a_platform_or_an_end_holds_for_all_for_ever() -> None:
    played = play(
        groups=[tpu("t"), tpu("u", platform="gcp")],
        events=[{"at": 5, "platform_list_error": "503"}],
        cycles=6,
    )

    statuses = [cycle["status"] for cycle in played.output["cycles"]]
    assert statuses == ["ok", "aborted", "aborted", "aborted", "ok", "ok"]
    assert played.outcome("t", 5) == played.outcome("u", 5) == "PLATFORM_UNREACHABLE"


def test_an_aborted_cycle_has_a_reason_and_nothing_else_and_its_events_are_told_later() -> None:
    played = play(
        groups=[tpu("t")],
        jobs=[job("j", constraints=["nowhere"])],
        events=[{"at": 5, "platform_list_error": "503", "for": 10}, {"at": 6, "pause_group": "t"}],
        cycles=3,
    )

    aborted = played.output["cycles"][1]
    assert "503" in aborted["reason"]
    assert (aborted["groups"], aborted["hints"], aborted["actions"]) == ({}, [], [])
    assert played.kinds(2) == {"pause": 1}


def test_tasks_go_on_while_cycles_abort() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("r", "t")],
        jobs=[job("j", run_seconds=12)],
        events=[{"at": 5, "platform_list_error": "503"}],
        cycles=3,
    )

    assert played.job("j")["done"] == 1


# -- tasks and workers


def test_losing_a_worker_that_has_gone_before_changes_nothing() -> None:
    played = play(groups=[tpu("t")], slices=[ready("r", "t", -500)], events=[{"at": 25, "lose_worker": "r"}], cycles=4)

    assert played.totals["terminated"] == 1
    assert played.actions("slice_lost") == []


def test_tasks_on_a_lost_slice_do_not_finish() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("r", "t")],
        jobs=[job("j", run_seconds=15)],
        cloud=SLOW,
        events=[{"at": 12, "lose_worker": "r"}],
        cycles=3,
    )

    assert played.job("j") == {"pending": 1, "placed": 1, "running": 0, "done": 0}
    assert played.up("t", 2) == 1


def test_shares_of_gpus_are_given_out_and_taken_back() -> None:
    played = play(
        groups=[gpu("g", count=2, max_slices=1)],
        slices=[ready("r", "g")],
        jobs=[
            job("a", 2, {"gpu": 0.6}, run_seconds=15, submitted=-50),
            job("b", 2, {"gpu": 0.4}, run_seconds=100, submitted=-40),
            job("c", 1, {"gpu": 1}, submitted=-30),
            job("d", 2, {"gpu": 0.6}, submitted=-20),
        ],
        cycles=3,
    )

    assert played.job("a")["done"] == 2
    assert played.job("b")["running"] == 2
    assert played.job("c")["running"] == 0
    assert played.job("d")["running"] == 2


def test_a_job_counts_what_waits_what_has_a_place_and_what_runs() -> None:
    played = play(
        groups=[tpu("t", max_slices=3)],
        slices=[ready("r", "t"), booting("b", "t")],
        jobs=[job("j", 5)],
        cloud=SLOW,
    )

    assert played.job("j") == {"pending": 4, "placed": 2, "running": 1, "done": 0}


def test_one_gang_never_starts_in_part() -> None:
    played = play(
        groups=[pod("p", max_slices=2)],
        slices=[ready("r", "p"), booting("b", "p", -40)],
        jobs=[job("g", 8, gang=True)],
        cloud={"boot_seconds": 60},
        cycles=3,
    )

    assert [played.hints(n).get("g", {}).get("code") for n in range(3)] == ["waiting_for_workers"] * 2 + [None]
    assert played.job("g")["running"] == 8


def test_a_slice_that_has_failed_before_counts_for_nothing() -> None:
    played = play(
        groups=[tpu("t", max_slices=1)], slices=[booting("f", "t", state="FAILED")], jobs=[job("j")], cloud=SLOW
    )

    assert played.up("t") == 1
    assert "f" not in played.slices


def test_a_draining_slice_without_work_has_been_told_to_go() -> None:
    played = play(
        groups=[tpu("t", max_slices=3)],
        slices=[
            {"id": "leaving", "group": "t", "state": "DRAINING", "created": -100},
            {"id": "idle", "group": "t", "state": "DRAINING", "created": -900, "idle_since": -100},
            {"id": "busy", "group": "t", "state": "DRAINING", "created": -900, "active_tasks": 1},
        ],
        cycles=2,
    )

    assert played.down("t") == []
    assert [played.group("t", n)["slices"]["DRAINING"] for n in range(2)] == [3, 2]
    assert set(played.slices) == {"idle", "busy"}
    assert played.totals["terminated"] == 0
