"""Section 3: a gang is placed whole in one group or not at all."""

from tests.autoscaler.cluster import SLOW, STOCKOUT, booting, cpu, gpu, job, play, pod, ready


def gang(name: str, tasks: int, **fields: object) -> dict[str, object]:
    return job(name, tasks, gang=True, **fields)


def test_a_gang_uses_ready_in_flight_and_new_slices_together() -> None:
    played = play(
        groups=[pod("p")],
        slices=[ready("r", "p"), booting("b", "p")],
        jobs=[gang("g", 12)],
        cloud=SLOW,
    )

    assert (played.group("p")["assigned"], played.up("p")) == (12, 1)


def test_a_gang_prefers_a_worse_group_that_has_it_all_ready() -> None:
    played = play(
        groups=[pod("better", priority=1), pod("worse", priority=9)],
        slices=[ready("r1", "worse"), ready("r2", "worse")],
        jobs=[gang("g", 8)],
    )

    assert played.job("g")["running"] == 8
    assert played.totals["creates_sent"] == 0


def test_a_gang_prefers_a_group_where_it_is_coming_to_one_where_it_must_be_bought() -> None:
    played = play(
        groups=[pod("better", priority=1), pod("worse", priority=9)],
        slices=[ready("r", "worse"), booting("b", "worse")],
        jobs=[gang("g", 8)],
        cloud=SLOW,
    )

    assert played.totals["creates_sent"] == 0
    assert played.code("g") == "waiting_for_workers"


def test_a_gang_never_mixes_groups() -> None:
    played = play(
        groups=[pod("a", max_slices=1), pod("b", max_slices=1)],
        slices=[ready("ra", "a"), ready("rb", "b")],
        jobs=[gang("g", 8)],
    )

    assert played.totals["creates_sent"] == 0
    assert played.job("g")["running"] == 0


def test_a_gang_leaves_slices_with_a_busy_worker_alone() -> None:
    played = play(groups=[pod("p")], slices=[ready("r", "p", idle=None)], jobs=[gang("g", 4)], cloud=SLOW)

    assert played.up("p") == 1


def test_a_gang_puts_one_task_on_each_worker_and_leaves_the_rest_to_others() -> None:
    played = play(
        groups=[gpu("g", count=8)],
        jobs=[gang("big", 3, resources={"gpu": 2}, submitted=-30), job("small", 9, {"gpu": 2})],
    )

    assert played.up("g") == 3
    assert played.group("g")["assigned"] == 12


def test_a_gang_may_share_workers_with_others() -> None:
    played = play(
        groups=[cpu("c", cores=8, workers_per_slice=2)],
        slices=[ready("s", "c", idle=-5)],
        jobs=[job("one", 1, {"cpu": 4}, submitted=-30), gang("two", 2, resources={"cpu": 4})],
    )

    assert played.totals["creates_sent"] == 0
    assert played.job("two")["running"] == 2


def test_a_gang_that_does_not_fit_under_max_is_not_bought_in_part() -> None:
    played = play(groups=[pod("p", max_slices=2)], slices=[ready("r", "p", idle=None)], jobs=[gang("g", 8)])

    assert played.up("p") == 0
    assert played.code("g") == "tier_blocked"
    assert "CAPACITY_EXCEEDED" in played.reason("g")


def test_a_gang_that_its_pool_cannot_pay_whole_is_not_bought() -> None:
    played = play(
        groups=[pod("p", quota_pool="q")],
        quota_pools=[{"name": "q", "limit": 40}],
        jobs=[gang("g", 12)],
    )

    assert played.up("p") == 0
    assert "QUOTA_EXCEEDED" in played.reason("g")


def test_a_group_closed_to_growth_still_serves_a_gang_with_what_is_there() -> None:
    played = play(groups=[pod("p", max_slices=0)], slices=[ready("r1", "p"), ready("r2", "p")], jobs=[gang("g", 8)])

    assert played.job("g")["running"] == 8


def test_an_old_gang_is_bought_whole_although_it_leaves_room_aside() -> None:
    played = play(
        groups=[pod("p", idle_threshold=3000)],
        slices=[ready("r1", "p", -500), ready("r2", "p", -500)],
        jobs=[gang("g", 8, submitted=-500)],
        cloud=SLOW,
    )

    assert played.up("p") == 2


def test_a_gang_is_deferred_whole() -> None:
    played = play(
        groups=[pod("p", scale_up_rate=4, max_slices=20)],
        jobs=[gang("first", 12, submitted=-50), gang("second", 8), job("third", 4)],
        cloud=SLOW,
        cycles=3,
        every=30,
    )

    # 4 tokens: 3 at once, the gang of 2 waits for both of its own, and the later job behind it
    assert played.ups("p") == [3, 3, 0]
    assert played.group("p")["assigned"] == 24
    assert "deferred" in played.reason("second")
    assert played.code("third") == "scaling_up"


# -- accepted in part


def accepted_in_part(**more: object) -> dict[str, object]:
    return {
        "groups": [pod("here", priority=1), pod("there", priority=9)],
        "jobs": [gang("g", 12)],
        "cloud": {"boot_seconds": 50, "fail": [{"group": "here", "after": 2, "until": 15, "error": STOCKOUT}]},
    } | more


def test_a_gang_accepted_in_part_stays_with_its_group_and_the_rest_is_asked_for_again() -> None:
    played = play(**accepted_in_part(cycles=3))

    assert played.ups("here") == [3, 1, 1]
    assert played.ups("there") == [0, 0, 0]
    assert played.outcomes("here") == ["AVAILABLE", "STOCKOUT", "STOCKOUT"]
    assert (played.totals["creates_accepted"], played.totals["creates_failed"]) == (3, 2)


def test_a_gang_accepted_in_part_runs_when_the_rest_has_come() -> None:
    played = play(**accepted_in_part(cycles=9))

    assert played.job("g")["running"] == 12
    assert played.totals["creates_accepted"] == 3


def test_the_slices_of_a_gang_accepted_in_part_are_kept_from_others_and_from_release() -> None:
    parts = accepted_in_part(cycles=9, every=100)
    parts["cloud"] = {"boot_seconds": 50, "fail": [{"group": "here", "after": 2, "error": STOCKOUT}]}
    parts["groups"] = [pod("here", idle_threshold=200)]
    parts["jobs"] = [gang("g", 12), job("other", 4, submitted=-5, priority=1)]
    played = play(**parts)

    assert played.job("other")["running"] == 0
    assert played.totals["terminated"] == 0


def test_after_the_provision_timeout_the_slices_of_an_incomplete_gang_serve_others() -> None:
    parts = accepted_in_part(cycles=11, every=100)
    parts["cloud"] = {"boot_seconds": 50, "fail": [{"group": "here", "after": 2, "error": STOCKOUT}]}
    parts["groups"] = [pod("here")]
    parts["jobs"] = [gang("g", 12), job("other", 4, submitted=-5, priority=1)]
    played = play(**parts)

    assert played.job("other")["running"] == 4
    assert played.job("g")["running"] == 0


def test_a_gang_accepted_in_part_is_not_asked_for_while_its_group_is_paused_or_full() -> None:
    paused = play(**accepted_in_part(cycles=3, events=[{"at": 5, "pause_group": "here"}]))
    full = play(**accepted_in_part(cycles=3, events=[{"at": 5, "set_group": "here", "max_slices": 2}]))

    assert paused.ups("here") == [3, 0, 0]
    assert full.ups("here") == [3, 0, 0]
    assert full.ups("there") == [0, 0, 0]
    assert full.code("g", 2) == "tier_blocked"


def test_a_gang_goes_elsewhere_when_its_group_drains() -> None:
    played = play(**accepted_in_part(cycles=3, events=[{"at": 5, "drain_group": "here"}]))

    assert played.ups("there") == [0, 3, 0]


def test_a_gang_whose_request_fails_altogether_goes_elsewhere_at_once() -> None:
    parts = accepted_in_part(cycles=2)
    parts["cloud"] = {"boot_seconds": 50, "fail": [{"group": "here", "error": STOCKOUT}]}
    played = play(**parts)

    assert played.ups("there") == [0, 3]


def test_losing_one_slice_of_a_running_gang_starts_all_of_it_anew() -> None:
    played = play(
        groups=[pod("p")],
        slices=[ready("r1", "p"), ready("r2", "p")],
        jobs=[gang("g", 8)],
        cloud={"boot_seconds": 30},
        cycles=6,
        every=20,
        events=[{"at": 30, "lose_worker": "r1"}],
    )

    assert played.totals["creates_sent"] == 1
    assert played.job("g")["running"] == 8


def test_a_gang_uses_what_others_leave_on_the_slices_opened_for_them() -> None:
    first = job("j", 5, {"gpu": 1}, priority=200)
    played = play(
        groups=[gpu("g", count=2)],
        jobs=[first, gang("one", 1, resources={"gpu": 1}), gang("two", 2, resources={"gpu": 1}, priority=50)],
    )

    assert played.group("g")["assigned"] == 8
    assert played.up("g") == 5


def test_a_gang_takes_one_worker_of_an_opened_slice_for_each_task() -> None:
    first = job("j", 3, {"cpu": 3}, priority=200)
    played = play(groups=[cpu("c", cores=4)], jobs=[first, gang("g", 3, resources={"cpu": 1})])

    assert played.up("c") == 3
    assert played.group("c")["assigned"] == 6
