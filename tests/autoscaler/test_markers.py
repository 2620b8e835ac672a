"""Sections 4 and 5: markers, back-off and probes."""

from scaling.autoscaler.markers import backoff_seconds, failures_behind
from tests.autoscaler.cluster import (
    DENIED,
    SLOW,
    STOCKOUT,
    TOO_FAST,
    TRANSIENT,
    booting,
    job,
    marker,
    play,
    pod,
    ready,
    tpu,
)


def fails(error: str, **rule: object) -> dict[str, object]:
    return {"boot_seconds": 20, "fail": [{"group": "t", "error": error} | rule]}


def test_back_off_doubles_up_to_a_quarter_of_an_hour() -> None:
    assert [backoff_seconds(n) for n in range(1, 8)] == [30, 60, 120, 240, 480, 900, 900]


def test_the_length_of_a_marker_tells_how_many_failures_are_behind_it() -> None:
    assert [failures_behind(0, until) for until in (30, 60, 120, 240, 480, 900)] == [1, 2, 3, 4, 5, 6]
    assert failures_behind(0, 45) == 1


def test_a_known_back_off_doubles_on() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[marker("t", "backoff", since=-60, until=0)],
        cloud=fails(TRANSIENT),
        jobs=[job("j")],
    )

    assert played.markers["t", "backoff"]["until"] == 120


def test_back_off_starts_again_after_three_hours_without_failure() -> None:
    def until(since: float) -> float:
        played = play(
            groups=[tpu("t")],
            markers=[marker("t", "backoff", since=since, until=since + 120)],
            cloud=fails(TRANSIENT),
            jobs=[job("j")],
        )
        return float(played.markers["t", "backoff"]["until"])

    assert until(-3 * 3600) == 30
    assert until(-3 * 3600 + 1) == 240


def test_back_off_starts_again_when_a_slice_has_been_ready_for_ten_minutes() -> None:
    def until(again: float) -> float:
        played = play(
            groups=[tpu("t", max_slices=2, idle_threshold=9000)],
            cloud={
                "boot_seconds": 20,
                "fail": [
                    {"group": "t", "until": 5, "error": TRANSIENT},
                    {"group": "t", "from": again, "error": TRANSIENT},
                ],
            },
            jobs=[job("j")],
            events=[{"at": again - 1, "set_group": "t", "min_slices": 2}],
            cycles=int(again // 10) + 2,
        )
        assert played.totals["creates_failed"] == 2
        return float(played.markers["t", "backoff"]["until"] - played.markers["t", "backoff"]["since"])

    # refused at 0, accepted at 30, ready at 50, stable at 650
    assert until(600) == 60
    assert until(650) == 30


def test_failures_while_the_back_off_is_active_count_once() -> None:
    played = play(
        groups=[tpu("t", provision_timeout=15)],
        slices=[booting("a", "t", -1), booting("b", "t", -10)],
        cloud=SLOW,
        cycles=4,
    )

    # b fails at 10 and a at 20, within the same 30 seconds
    assert played.markers["t", "backoff"]["until"] == 40
    assert played.markers["t", "backoff"]["failures"] == 1


def test_a_stock_out_that_is_seen_again_lasts_from_then() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[booting("a", "t", -10)],
        markers=[marker("t", "stockout", since=-60, until=50)],
        cloud=SLOW,
        events=[{"at": 5, "lose_worker": "a"}],
        cycles=2,
    )
    late = play(
        groups=[tpu("t")],
        cloud={"boot_seconds": 500, "fail": [{"group": "t", "error": STOCKOUT, "late": 25}]},
        jobs=[job("j")],
        cycles=4,
    )

    assert played.markers["t", "stockout"]["until"] == 50
    assert late.markers["t", "stockout"]["until"] == 930


def test_every_class_of_error_leaves_its_own_marker() -> None:
    kinds = {}
    for error in (STOCKOUT, TRANSIENT, DENIED, "Quota 'TPUS' exceeded. Limit: 64.0 in region us-east9."):
        played = play(groups=[tpu("t")], cloud=fails(error), jobs=[job("j")])
        (((_, kind), found),) = played.markers.items()
        kinds[kind] = found["until"]
        assert played.kinds() == {"scale_up": 1, "create_failed": 1, "marker_set": 1}

    assert kinds == {"stockout": 900, "backoff": 30, "permanent": None, "quota": 300}


def test_the_platforms_own_words_are_kept() -> None:
    played = play(groups=[tpu("t")], cloud=fails(DENIED), jobs=[job("j")], cycles=2)

    assert played.markers["t", "permanent"]["error"] == DENIED
    assert DENIED in played.actions("create_failed")[0]["reason"]


def test_ten_refusals_in_one_cycle_set_one_marker() -> None:
    played = play(groups=[tpu("t", max_slices=20)], cloud=fails(TRANSIENT), jobs=[job("j", 10)])

    assert played.kinds()["marker_set"] == 1
    assert played.totals["creates_failed"] == 10


# -- per-minute rates of the platform


def test_a_rate_limited_request_is_repeated_under_its_name_and_counts_as_sent() -> None:
    played = play(groups=[tpu("t")], cloud=fails(TOO_FAST, until=15), jobs=[job("j", 2)], cycles=3)

    assert played.ups("t") == [2, 0, 0]
    assert played.totals["creates_sent"] == 6
    assert played.totals["creates_accepted"] == 2
    assert played.totals["creates_failed"] == 0
    assert played.markers == {}


def test_a_rate_limited_request_holds_its_demand_and_its_place() -> None:
    played = play(
        groups=[tpu("t", max_slices=1, priority=1), tpu("u", priority=2)],
        cloud=fails(TOO_FAST),
        jobs=[job("j")],
        cycles=3,
    )

    assert played.ups("u") == [0, 0, 0]
    assert played.code("j", 2) == "scaling_up"
    assert played.group("t", 2)["slices"]["REQUESTING"] == 1


def test_a_rate_limited_request_gives_up_after_the_provision_timeout() -> None:
    played = play(
        groups=[tpu("t", max_slices=1, provision_timeout=20)], cloud=fails(TOO_FAST), jobs=[job("j")], cycles=4
    )

    assert played.kinds(3)["slice_failed"] == 1
    assert played.outcome("t", 3) == "BACKOFF"


def test_a_drain_cancels_what_is_to_be_asked_for_again() -> None:
    played = play(
        groups=[tpu("t")],
        cloud=fails(TOO_FAST, until=15),
        jobs=[job("j", 2)],
        events=[{"at": 5, "drain_group": "t"}],
        cycles=3,
    )

    assert played.totals["creates_sent"] == 2
    assert played.slices == {}


def test_a_paused_group_repeats_no_request() -> None:
    played = play(
        groups=[tpu("t")],
        cloud=fails(TOO_FAST, until=15),
        jobs=[job("j", 2)],
        events=[{"at": 5, "pause_group": "t"}, {"at": 25, "resume_group": "t"}],
        cycles=4,
    )

    assert played.totals["creates_sent"] == 4
    assert played.totals["creates_accepted"] == 2


# -- probes


def test_a_probe_may_be_sent_for_a_floor() -> None:
    played = play(
        groups=[tpu("t", min_slices=3)],
        markers=[marker("t", "stockout", since=-900, until=0)],
        cloud={"boot_seconds": 15},
        cycles=3,
    )

    assert played.ups("t") == [1, 0, 2]
    assert played.markers == {}


def test_a_whole_gang_may_be_the_probe() -> None:
    played = play(
        groups=[pod("t")],
        markers=[marker("t", "stockout", since=-900, until=0)],
        jobs=[job("g", 12, gang=True, submitted=-50), job("j", 4)],
        cloud={"boot_seconds": 15},
        cycles=3,
    )

    assert played.ups("t") == [3, 0, 1]
    assert played.outcomes("t") == ["AVAILABLE", "PROBING", "AVAILABLE"]


def test_a_probe_that_fails_closes_the_group_again() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[marker("t", "backoff", since=-30, until=0)],
        cloud=fails(TRANSIENT, late=15),
        jobs=[job("j", 3)],
        cycles=4,
    )

    assert played.outcomes("t") == ["AVAILABLE", "PROBING", "BACKOFF", "BACKOFF"]
    assert played.markers["t", "backoff"]["until"] == 20 + 60


def test_a_probe_that_never_boots_is_a_failure() -> None:
    played = play(
        groups=[tpu("t", provision_timeout=15)],
        markers=[marker("t", "stockout", since=-900, until=0)],
        cloud=SLOW,
        jobs=[job("j", 3)],
        cycles=3,
    )

    assert played.outcomes("t") == ["AVAILABLE", "PROBING", "BACKOFF"]
    assert set(played.markers) == {("t", "stockout"), ("t", "backoff")}


def test_success_of_a_request_made_before_the_marker_clears_nothing() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[booting("b", "t", -70)],
        markers=[marker("t", "stockout", since=-60, until=5)],
        cloud={"boot_seconds": 80},
        jobs=[job("j", 3)],
        cycles=3,
    )

    # b is ready at 10 and proves nothing: the first request after the marker is the probe
    assert played.ups("t") == [0, 1, 0]
    assert played.outcomes("t") == ["STOCKOUT", "AVAILABLE", "PROBING"]


def test_a_probe_clears_all_markers_that_have_run_out() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[
            marker("t", "stockout", since=-900, until=0),
            marker("t", "backoff", since=-30, until=0),
            marker("t", "quota", since=-300, until=0),
        ],
        cloud={"boot_seconds": 15},
        jobs=[job("j", 3)],
        cycles=3,
    )

    assert played.markers == {}
    assert played.kinds(2)["marker_cleared"] == 3


def test_a_cleared_marker_restores_full_speed_while_a_probe_is_in_flight() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[marker("t", "stockout", since=-900, until=0)],
        cloud=SLOW,
        jobs=[job("j", 3)],
        events=[{"at": 5, "clear_marker": "t"}],
        cycles=2,
    )

    assert played.ups("t") == [1, 2]


def test_an_edit_takes_a_permanent_marker_away_and_no_other() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[marker("t", "permanent"), marker("t", "stockout")],
        events=[{"at": 5, "set_group": "t", "max_slices": 12}],
        cycles=2,
    )

    assert played.outcomes("t") == ["CREATE_REFUSED", "STOCKOUT"]
    assert played.kinds(1)["marker_cleared"] == 1


def test_an_acknowledgement_is_kept_and_recorded() -> None:
    played = play(
        groups=[tpu("t")],
        markers=[marker("t", "stockout")],
        events=[{"at": 5, "acknowledge_marker": "t"}],
        cycles=2,
    )

    assert played.markers["t", "stockout"]["acknowledged"] is True
    assert [action["group"] for action in played.actions("acknowledge", 1)] == ["t"]


# -- losses


def test_only_a_loss_within_ten_minutes_backs_the_group_off() -> None:
    def outcome(created: float) -> str:
        return play(
            groups=[tpu("t")],
            slices=[ready("s", "t", created=created)],
            events=[{"at": 5, "lose_worker": "s"}],
            cycles=2,
        ).outcome("t", 1)

    assert outcome(-580) == "BACKOFF"
    assert outcome(-595) == "AVAILABLE"


def test_a_lost_slice_is_not_terminated() -> None:
    played = play(groups=[tpu("t")], slices=[ready("s", "t")], events=[{"at": 5, "lose_worker": "s"}], cycles=3)

    assert played.totals["terminated"] == 0
    assert [action["slice"] for action in played.actions("slice_lost")] == ["s"]
    assert played.slices == {}


def test_a_slice_at_exactly_its_provision_timeout_has_not_failed_yet() -> None:
    played = play(groups=[tpu("t", provision_timeout=100)], slices=[booting("b", "t", -90)], cloud=SLOW, cycles=3)

    assert played.outcomes("t") == ["AVAILABLE", "AVAILABLE", "BACKOFF"]
    assert played.kinds(2) == {"slice_failed": 1, "marker_set": 1}
