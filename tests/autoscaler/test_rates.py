"""Section 4: token buckets."""

from scaling.autoscaler.models import Bucket
from scaling.autoscaler.rates import Tokens, refilled
from tests.autoscaler.cluster import SLOW, job, marker, play, pod, ready, tpu


def test_a_bucket_starts_full_less_what_was_created_in_the_last_minute() -> None:
    assert refilled(None, 16, now=100).level == 16
    assert refilled(None, 16, now=100, recent=[39, 40, 41, 99]).level == 14


def test_a_bucket_fills_at_its_rate_and_holds_one_minute() -> None:
    assert refilled(Bucket(0, at=0), 16, now=30).level == 8
    assert refilled(Bucket(0, at=0), 16, now=3000).level == 16
    assert refilled(Bucket(-8, at=0), 16, now=30).level == 0


def test_a_clock_that_went_back_takes_nothing() -> None:
    assert refilled(Bucket(5, at=100), 16, now=40).level == 5


def test_more_than_a_bucket_holds_goes_when_it_is_full() -> None:
    assert Tokens(4, 4).allows(6)
    assert not Tokens(4, 3.9).allows(6)
    assert not Tokens(0, 0).allows(1)
    assert Tokens(0.5, 0.5).allows(1)


def test_fractions_never_leave_a_token_a_hair_short() -> None:
    tokens = Tokens(3, 0)
    for _ in range(10):
        tokens = refilled(Bucket(tokens.level, at=0), 3, now=2)

    assert tokens.allows(1)


def test_a_rate_of_zero_buys_nothing() -> None:
    played = play(groups=[tpu("t", scale_up_rate=0)], jobs=[job("j", 2)], cycles=3)

    assert played.ups("t") == [0, 0, 0]
    assert played.code("j", 2) == "scaling_up"
    assert "deferred" in played.reason("j", 2)


def test_deferred_demand_stays_assigned_and_is_one_action() -> None:
    played = play(groups=[tpu("t", max_slices=50)], jobs=[job("j", 20)], cloud=SLOW)

    assert (played.group("t")["assigned"], played.group("t")["deficit"], played.up("t")) == (20, 20, 16)
    assert [action["group"] for action in played.actions("deferred")] == ["t"]
    assert "4 slices" in played.actions("deferred")[0]["reason"]


def test_a_job_that_is_wholly_deferred_is_scaling_up_and_told_why() -> None:
    played = play(
        groups=[tpu("t", max_slices=50)],
        jobs=[job("first", 16, submitted=-30), job("second", 2)],
        cloud=SLOW,
    )

    assert played.code("second") == "scaling_up"
    assert "deferred by a rate" in played.reason("second")
    assert "deferred" not in played.reason("first")


def test_deferred_demand_does_not_spill_into_the_next_group() -> None:
    played = play(groups=[tpu("a", priority=1, max_slices=50), tpu("b", priority=2)], jobs=[job("j", 20)], cloud=SLOW)

    assert (played.up("a"), played.up("b")) == (16, 0)


def test_floors_and_buffers_wait_behind_demand_that_is_deferred() -> None:
    played = play(groups=[tpu("t", max_slices=50, scale_up_rate=4, buffer_slices=2)], jobs=[job("j", 3)], cloud=SLOW)
    behind = play(
        groups=[pod("t", max_slices=50, scale_up_rate=4, min_slices=9)],
        jobs=[job("a", 4, submitted=-50), job("g", 16, gang=True)],
        cloud=SLOW,
    )

    assert played.up("t") == 4
    assert behind.up("t") == 1  # three tokens are left, and the gang ahead of the floor needs four


def test_the_last_creates_over_all_groups_go_to_the_more_important_job() -> None:
    groups = [tpu(f"g{n}", zone=f"z{n}", scale_up_rate=60, max_slices=60) for n in (1, 2)]
    played = play(
        groups=groups,
        jobs=[
            job("low", 40, constraints=["z1"], priority=1),
            job("high", 40, constraints=["z2"], priority=2),
        ],
        cloud=SLOW,
    )

    assert (played.up("g1"), played.up("g2")) == (20, 40)


def test_floors_take_the_last_creates_in_the_order_of_priority() -> None:
    groups = [
        tpu("a", min_slices=40, scale_up_rate=60, max_slices=60, priority=9),
        tpu("b", min_slices=40, scale_up_rate=60, max_slices=60, priority=1),
    ]
    played = play(groups=groups, cloud=SLOW)

    assert (played.up("a"), played.up("b")) == (20, 40)


def test_repeated_requests_take_tokens() -> None:
    played = play(
        groups=[tpu("t", max_slices=50)],
        jobs=[job("j", 16)],
        cloud={"boot_seconds": 500, "fail": [{"group": "t", "error": "Rate exceeded (Error Code: Throttling)"}]},
        cycles=2,
    )

    # 16 at once; 10 s later 16/6 tokens have come back
    assert played.totals["creates_sent"] == 18


def test_releases_have_a_rate_of_their_own() -> None:
    slices = [ready(f"s{n:02}", "t", idle=-1000 - n) for n in range(10)]
    played = play(groups=[tpu("t", scale_down_rate=6, max_slices=20)], slices=slices, cycles=3, every=20)

    assert [len(played.down("t", n)) for n in range(3)] == [6, 2, 2]
    assert played.down("t", 0)[0] == "s09"


def test_a_deferred_group_is_not_a_failure() -> None:
    played = play(groups=[tpu("t", max_slices=50)], jobs=[job("j", 40)], cloud=SLOW, cycles=2)

    assert played.outcomes("t") == ["AVAILABLE", "AVAILABLE"]
    assert played.markers == {}


def test_a_probe_can_be_deferred() -> None:
    played = play(
        groups=[tpu("t", scale_up_rate=0)],
        markers=[marker("t", "stockout", since=-900, until=0)],
        jobs=[job("j", 2)],
        cycles=2,
    )

    assert played.outcomes("t") == ["AVAILABLE", "AVAILABLE"]
    assert played.ups("t") == [0, 0]
