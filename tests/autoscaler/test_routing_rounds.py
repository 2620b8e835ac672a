"""Section 3: which group gets what, in three rounds."""

from tests.autoscaler.cluster import SLOW, booting, cpu, job, marker, play, pod, ready, tpu


def test_a_group_with_an_open_marker_comes_after_its_equals_and_before_worse_ones() -> None:
    played = play(
        groups=[tpu("a", priority=10), tpu("b", priority=10), tpu("c", priority=20)],
        markers=[marker("a", "stockout", since=-2000, until=-1)],
        jobs=[job("j", 1)],
    )

    assert (played.up("a"), played.up("b"), played.up("c")) == (0, 1, 0)


def test_a_better_group_is_asked_before_a_worse_one_even_if_it_has_failed_before() -> None:
    played = play(
        groups=[tpu("a", priority=10), tpu("b", priority=20)],
        markers=[marker("a", "backoff", since=-60, until=-30)],
        jobs=[job("j", 3)],
    )

    assert (played.up("a"), played.up("b")) == (1, 2)


def test_remaining_capacity_is_that_of_the_start_of_the_cycle() -> None:
    played = play(
        groups=[tpu("a", max_slices=4), tpu("b", max_slices=5)],
        slices=[ready("s", "b", idle=None)],
        jobs=[job("j", 3)],
    )

    # four slices left in each: the name decides, and keeps deciding while the first one fills
    assert (played.up("a"), played.up("b")) == (3, 0)


def test_ready_room_of_every_group_comes_before_slices_in_flight_of_any() -> None:
    played = play(
        groups=[tpu("best", priority=1), tpu("worst", priority=9)],
        slices=[booting("b", "best"), ready("r", "worst")],
        jobs=[job("j", 1)],
        cloud=SLOW,
    )

    assert played.job("j")["running"] == 1
    assert (played.group("best")["assigned"], played.group("worst")["assigned"]) == (0, 1)


def test_an_entry_that_is_split_over_rounds_buys_only_the_rest() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("r", "t"), booting("b", "t")],
        jobs=[job("j", 5)],
        cloud=SLOW,
    )

    assert (played.group("t")["assigned"], played.group("t")["deficit"]) == (5, 3)


def test_the_more_important_entry_takes_the_ready_room() -> None:
    played = play(
        groups=[tpu("t", max_slices=1)],
        slices=[ready("r", "t")],
        jobs=[job("low", priority=1, submitted=-90), job("high", priority=2)],
    )

    assert played.job("high")["running"] == 1
    assert played.code("low") == "tier_blocked"


def test_cpu_work_with_leave_to_use_accelerators_prefers_by_priority_only() -> None:
    played = play(
        groups=[cpu("c", priority=50), tpu("t", priority=10, worker_cpu=8)],
        jobs=[job("j", 2, {"cpu": 4}, allow_accelerators=True)],
    )

    assert (played.up("c"), played.up("t")) == (0, 2)


def test_any_of_several_variants_matches() -> None:
    played = play(
        groups=[tpu("a", "v5-8", max_slices=1), tpu("b", "v6e-8", max_slices=1), tpu("c", "v4-8")],
        jobs=[{"id": "j", "tasks": 3, "device": {"type": "tpu", "variants": ["v5-8", "V6E-8"]}}],
    )

    assert (played.up("a"), played.up("b"), played.up("c")) == (1, 1, 0)


def test_more_preferences_satisfied_come_first() -> None:
    def like(key: str, value: str) -> dict[str, object]:
        return {"key": key, "operator": "EQ", "values": [value], "mode": "preferred"}

    played = play(
        groups=[
            tpu("none", priority=1),
            tpu("one", zone="z1", priority=50),
            tpu("two", zone="z1", priority=90, attributes={"rack": "r1"}),
        ],
        jobs=[job("j", 1, constraints=[like("zone", "z1"), like("rack", "r1")])],
    )

    assert (played.up("none"), played.up("one"), played.up("two")) == (0, 0, 1)


# -- room that stays unused


def stale_room(submitted: float, idle: float, **more: object) -> object:
    return play(
        groups=[tpu("t", idle_threshold=3000), tpu("u", max_slices=1, idle_threshold=3000)],
        slices=[ready("s1", "t", idle), ready("s2", "t", idle), ready("s3", "u", idle)],
        jobs=[job("j", 3, submitted=submitted)],
        cloud=SLOW,
        **more,
    )


def test_room_stops_counting_at_exactly_two_minutes_after_submission_and_idleness() -> None:
    assert stale_room(-120, -120).up("t") == 1
    assert stale_room(-119, -400).up("t") == 0
    assert stale_room(-400, -119).up("t") == 0


def test_an_entry_that_leaves_room_aside_opens_one_slice_in_each_group() -> None:
    played = play(
        groups=[tpu("a", idle_threshold=3000), tpu("b"), tpu("c")],
        slices=[ready("s1", "a", -500), ready("s2", "a", -500)],
        jobs=[job("j", 9, submitted=-500)],
        cloud=SLOW,
    )

    assert (played.up("a"), played.up("b"), played.up("c")) == (1, 1, 1)
    assert played.code("j") == "scaling_up"


def test_an_entry_that_leaves_room_aside_asks_again_in_the_next_cycle() -> None:
    played = stale_room(-500, -500, cycles=4, every=10)

    assert played.ups("t") == [1, 1, 1, 0]


def test_fresh_room_is_used_although_other_room_is_left_aside() -> None:
    played = play(
        groups=[tpu("t", idle_threshold=3000)],
        slices=[ready("old", "t", -500), ready("new", "t", -20)],
        jobs=[job("j", 2, submitted=-500)],
        cloud=SLOW,
    )

    assert played.up("t") == 1
    assert played.slices["new"]["active_tasks"] == 1
    assert played.slices["old"]["active_tasks"] == 0


def test_where_the_age_of_room_is_not_known_the_age_of_the_job_decides() -> None:
    def up(submitted: float) -> int:
        busy = {"id": "s", "group": "p", "state": "READY", "active_tasks": 1, "created": -50}
        return play(groups=[pod("p", 2)], slices=[busy], jobs=[job("j", 1, submitted=submitted)], cloud=SLOW).up("p")

    assert up(-119) == 0
    assert up(-120) == 1


def test_room_that_just_got_ready_is_fresh_for_an_old_job() -> None:
    played = play(
        groups=[tpu("t", idle_threshold=3000)],
        slices=[booting("b", "t", -60)],
        jobs=[job("j", 1, submitted=-900)],
        cloud={"boot_seconds": 70},
        cycles=3,
    )

    assert played.ups("t") == [0, 0, 0]
    assert played.job("j")["running"] == 1


def test_room_freed_by_a_task_that_ended_is_fresh() -> None:
    played = play(
        groups=[tpu("t", max_slices=1)],
        slices=[ready("s", "t")],
        jobs=[job("first", 1, run_seconds=300, submitted=-50), job("second", 1, submitted=-40)],
        cycles=4,
        every=100,
    )

    assert played.job("first")["done"] == 1
    assert played.job("second")["running"] == 1
    assert played.totals["creates_sent"] == 0


def test_a_job_submitted_in_the_future_is_taken_as_submitted_now() -> None:
    played = play(groups=[tpu("t")], jobs=[job("j", 2, submitted=500)])

    assert played.up("t") == 2


def test_draining_slices_offer_no_room() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[{"id": "d", "group": "t", "state": "DRAINING", "created": -900, "idle_since": -5}],
        jobs=[job("j", 1)],
        cloud=SLOW,
    )

    assert played.up("t") == 1


def test_a_task_whose_slice_was_lost_may_use_room_that_was_idle_before() -> None:
    played = play(
        groups=[tpu("t", buffer_slices=1, max_slices=2)],
        slices=[ready("used", "t", -20), ready("spare", "t", -900, created=-9000)],
        jobs=[job("j", 1, submitted=-10)],
        events=[{"at": 450, "lose_worker": "used"}],
        cloud=SLOW,
        cycles=6,
        every=100,
    )

    assert played.job("j")["running"] == 1
    assert played.slices["spare"]["active_tasks"] == 1
