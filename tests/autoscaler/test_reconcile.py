"""Sections 2 and 7: what platforms list, against what is stored."""

import pytest

from scaling.autoscaler.cycle import lost_slices, run_cycle
from scaling.autoscaler.models import (
    ActionKind,
    BackoffMemory,
    CycleStatus,
    DeleteCause,
    Drain,
    GroupControl,
    Listing,
    Marker,
    MarkerKind,
    Orphan,
    PlatformStatus,
    ScalingGroup,
    SliceState,
    Worker,
    WorkerHealth,
)
from tests.autoscaler.cluster import tpu
from tests.autoscaler.listed import GROUP, NOW, cycle, item, kinds, seen, state

# -- requests


def test_a_listed_request_is_booting_whether_or_not_its_answer_came() -> None:
    result = cycle(state(item(kind=SliceState.REQUESTING, retry_at=5.0)), seen(kind=SliceState.BOOTING))

    assert result.state.slices["s"].state is SliceState.BOOTING
    assert result.creates == ()


def test_a_request_that_is_not_listed_yet_is_left_alone() -> None:
    result = cycle(state(item(kind=SliceState.REQUESTING)))

    assert result.state.slices["s"].state is SliceState.REQUESTING
    assert result.actions == ()


def test_a_slice_that_got_ready_has_its_workers_and_an_idle_window() -> None:
    result = cycle(state(item(kind=SliceState.BOOTING)), seen(ready_at=980.0))
    found = result.state.slices["s"]

    assert (found.state, found.ready_since) == (SliceState.READY, 980.0)
    assert [worker.idle_since for worker in found.workers] == [980.0, 980.0]
    assert kinds(result) == [ActionKind.SLICE_READY]


def test_a_worker_that_is_silent_when_the_slice_gets_ready_is_known_as_silent() -> None:
    result = cycle(
        state(item(kind=SliceState.BOOTING)), seen("s", SliceState.READY, WorkerHealth.READY, WorkerHealth.UNKNOWN)
    )

    assert [worker.unknown_since for worker in result.state.slices["s"].workers] == [None, NOW]


def test_a_slice_that_fails_after_acceptance_is_classified_by_its_words() -> None:
    result = cycle(
        state(item(kind=SliceState.BOOTING)), seen(kind=SliceState.FAILED, error="There is no more capacity")
    )

    assert result.state.slices["s"].state is SliceState.FAILED
    assert result.state.markers["t", MarkerKind.STOCKOUT].until == NOW + 900
    assert kinds(result) == [ActionKind.SLICE_FAILED, ActionKind.MARKER_SET]
    assert [(delete.name, delete.cause) for delete in result.deletes] == [("s", DeleteCause.FAILED)]


def test_a_slice_that_loses_a_worker_while_it_boots_has_failed() -> None:
    result = cycle(
        state(item(kind=SliceState.BOOTING)), seen("s", SliceState.BOOTING, WorkerHealth.READY, WorkerHealth.LOST)
    )

    assert kinds(result) == [ActionKind.SLICE_FAILED, ActionKind.MARKER_SET]
    assert ("t", MarkerKind.BACKOFF) in result.state.markers


def test_a_failed_slice_no_longer_counts_and_is_gone_when_no_longer_listed() -> None:
    failed = cycle(state(item(kind=SliceState.BOOTING)), seen(kind=SliceState.FAILED, error="boom")).state

    again = cycle(failed, seen(kind=SliceState.FAILED, error="boom"), now=NOW + 10)
    assert again.evaluations["t"].capacity_remaining == 9
    assert again.deletes == ()
    assert len(cycle(failed, seen(kind=SliceState.FAILED), now=NOW + 60).deletes) == 1
    assert cycle(failed, now=NOW + 10).gone == ("s",)


def test_a_refused_request_is_gone_at_the_next_listing() -> None:
    result = cycle(state(item(kind=SliceState.FAILED)))

    assert result.gone == ("s",)
    assert result.state.slices == {}


# -- ready slices


def test_a_ready_slice_is_gone_when_it_is_not_found_twice() -> None:
    once = cycle(state(item()))
    assert once.state.slices["s"].missing == 1
    assert kinds(once) == []

    assert kinds(cycle(once.state, seen())) == []
    assert cycle(once.state, seen()).state.slices["s"].missing == 0
    assert kinds(cycle(once.state)) == [ActionKind.SLICE_LOST]


def test_a_booting_slice_is_gone_when_it_is_not_found_twice_and_that_is_a_failure() -> None:
    once = cycle(state(item(kind=SliceState.BOOTING)))

    assert kinds(once) == []
    assert kinds(cycle(once.state)) == [ActionKind.SLICE_FAILED, ActionKind.MARKER_SET]


@pytest.mark.parametrize("missing", [WorkerHealth.NOT_FOUND, None])
def test_one_worker_that_is_not_found_twice_gives_up_the_whole_slice(missing: WorkerHealth | None) -> None:
    healths = [WorkerHealth.READY] + ([missing] if missing else [])
    once = cycle(state(item()), seen("s", SliceState.READY, *healths))
    assert [worker.missing for worker in once.state.slices["s"].workers] == [0, 1]
    assert kinds(once) == []

    twice = cycle(once.state, seen("s", SliceState.READY, *healths))
    assert kinds(twice) == [ActionKind.SLICE_LOST]
    assert [(delete.name, delete.cause) for delete in twice.deletes] == [("s", DeleteCause.LOST)]


def test_a_lost_worker_is_believed_at_once() -> None:
    result = cycle(state(item()), seen("s", SliceState.READY, WorkerHealth.LOST, WorkerHealth.READY))

    assert kinds(result) == [ActionKind.SLICE_LOST]


@pytest.mark.parametrize("kind", [SliceState.FAILED, SliceState.TERMINATING])
def test_a_ready_slice_that_the_platform_ends_is_lost(kind: SliceState) -> None:
    assert kinds(cycle(state(item()), seen(kind=kind))) == [ActionKind.SLICE_LOST]


def test_only_a_young_ready_slice_that_is_lost_marks_its_group() -> None:
    young = item(ready_since=NOW - 599)
    old = item(ready_since=NOW - 600)

    assert ("t", MarkerKind.BACKOFF) in cycle(state(young), seen(kind=SliceState.FAILED)).state.markers
    assert cycle(state(old), seen(kind=SliceState.FAILED)).state.markers == {}


def test_a_drained_slice_that_is_lost_marks_nothing() -> None:
    drained = item(kind=SliceState.DRAINING, ready_since=NOW - 5, drain=Drain(NOW - 1))

    assert cycle(state(drained), seen(kind=SliceState.FAILED)).state.markers == {}


def test_a_silent_worker_comes_back_with_a_whole_new_window() -> None:
    silent = cycle(state(item()), seen("s", SliceState.READY, WorkerHealth.UNKNOWN, WorkerHealth.READY))
    assert silent.state.slices["s"].workers[0].unknown_since == NOW

    still = cycle(silent.state, seen("s", SliceState.READY, WorkerHealth.UNKNOWN, WorkerHealth.READY), now=NOW + 60)
    assert still.state.slices["s"].workers[0].unknown_since == NOW

    back = cycle(still.state, seen("s", SliceState.READY, WorkerHealth.READY, WorkerHealth.READY), now=NOW + 90)
    assert back.state.slices["s"].workers[0] == Worker(0, idle_since=NOW + 90)


def test_a_slice_that_boots_again_is_silent_and_not_lost() -> None:
    result = cycle(state(item()), seen(kind=SliceState.BOOTING))

    assert [worker.unknown_since for worker in result.state.slices["s"].workers] == [NOW, NOW]
    assert kinds(result) == []


def test_a_listing_that_tells_nothing_of_workers_changes_nothing_about_them() -> None:
    silent = item(workers=(Worker(0, unknown_since=NOW - 10), Worker(1, active_tasks=1)))

    assert cycle(state(silent), seen()).state.slices["s"].workers == silent.workers


def test_lost_slices_are_known_before_their_tasks_become_demand() -> None:
    stored = state(item())
    listing = {"simulated": Listing((seen(kind=SliceState.FAILED),))}

    assert lost_slices(stored, listing, NOW) == {"s"}
    assert lost_slices(stored, {"simulated": Listing(error="down")}, NOW) == frozenset()


# -- on the way out


def test_a_deletion_is_asked_again_after_a_minute_and_over_when_no_longer_listed() -> None:
    leaving = item(kind=SliceState.DRAINING, delete_asked_at=NOW)

    assert cycle(state(leaving), seen(), now=NOW + 59).deletes == ()
    assert len(cycle(state(leaving), seen(), now=NOW + 60).deletes) == 1
    assert cycle(state(leaving), seen(kind=SliceState.TERMINATING), now=NOW + 60).deletes == ()
    assert cycle(state(leaving), now=NOW + 10).gone == ("s",)


def test_one_stuck_deletion_never_blocks_the_rest() -> None:
    stuck = item("stuck", SliceState.TERMINATING, delete_asked_at=NOW - 5000)
    idle = item("idle", workers=(Worker(0, idle_since=0.0), Worker(1, idle_since=0.0)))
    result = cycle(state(stuck, idle), seen("stuck"), seen("idle"))

    assert [delete.name for delete in result.deletes] == ["stuck", "idle"]


def test_a_request_that_was_never_sent_is_cancelled_when_its_group_drains() -> None:
    controls = {"t": GroupControl(drain=Drain(NOW - 5))}
    unsent = item("unsent", SliceState.REQUESTING, sent_at=None)
    refused = item("refused", SliceState.REQUESTING, retry_at=NOW - 1)
    sent = item("sent", SliceState.REQUESTING)
    listed = item("listed", SliceState.REQUESTING, sent_at=None)

    result = cycle(state(unsent, refused, sent, listed, controls=controls), seen("listed", SliceState.BOOTING))

    assert set(result.gone) == {"unsent", "refused"}
    assert set(result.state.slices) == {"sent", "listed"}


# -- adoption


def test_an_unknown_slice_that_bears_our_id_is_adopted() -> None:
    result = cycle(state(), seen("new", SliceState.BOOTING, created=700.0), seen("there", ready_at=600.0))

    assert result.state.slices["new"].created == 700
    assert result.state.slices["new"].state is SliceState.BOOTING
    assert result.state.slices["there"].state is SliceState.READY
    assert result.state.slices["there"].workers[0].idle_since == NOW
    assert kinds(result).count(ActionKind.SLICE_ADOPTED) == 2


@pytest.mark.parametrize("installation", ["", "them"])
def test_a_slice_without_our_id_is_never_touched(installation: str) -> None:
    foreign = seen("foreign", installation=installation)
    result = cycle(state(), foreign)

    assert (result.state.slices, result.state.orphans, result.deletes) == ({}, {}, ())
    assert cycle(state(installation=""), seen("foreign", installation="")).state.slices == {}


def test_a_slice_of_ours_in_no_group_is_swept_after_a_grace() -> None:
    stray = seen("stray", group="nobody")
    met = cycle(state(), stray)
    assert met.state.orphans == {"stray": Orphan("stray", "simulated", NOW)}
    assert met.deletes == ()

    assert cycle(met.state, stray, now=NOW + 899).deletes == ()
    (delete,) = cycle(met.state, stray, now=NOW + 900).deletes
    assert (delete.name, delete.cause) == ("stray", DeleteCause.SWEPT)
    assert cycle(met.state, now=NOW + 10).state.orphans == {}


def test_a_group_of_another_platform_does_not_own_a_slice() -> None:
    other = ScalingGroup(tpu("far", platform="gcp"))
    stored = state(groups={"t": GROUP, "far": other})
    result = run_cycle(stored, {"simulated": Listing((seen("x", group="far"),)), "gcp": Listing()}, [], NOW)

    assert set(result.state.orphans) == {"x"}


# -- platforms that cannot be listed


def test_an_error_means_nothing_is_gone_even_with_an_empty_page() -> None:
    result = cycle(state(item(missing=1)), error="503")

    assert result.status is CycleStatus.ABORTED
    assert result.reason == "platform simulated cannot be listed: 503"
    assert (result.actions, result.creates, result.deletes, result.evaluations) == ((), (), (), {})
    assert result.state.slices["s"].missing == 1
    assert result.state.platforms["simulated"] == PlatformStatus(aborts=1, failing_since=NOW, error="503")


def test_a_platform_that_was_not_asked_counts_as_not_listed() -> None:
    assert run_cycle(state(), {}, [], NOW).status is CycleStatus.ABORTED


def test_a_good_listing_starts_the_count_of_aborts_again() -> None:
    stored = state()
    outcomes = []
    for number, error in enumerate(["x", "x", "", "x", "x", "x", "x"]):
        result = cycle(stored, error=error, now=NOW + number)
        stored = result.state
        outcomes.append(result.status.value)

    assert outcomes == ["aborted", "aborted", "ok", "aborted", "aborted", "aborted", "ok"]


def test_slices_of_an_unreachable_platform_are_left_alone() -> None:
    old = item("old", workers=(Worker(0, idle_since=0.0), Worker(1, idle_since=0.0)))
    late = item("late", SliceState.BOOTING, created=-9000.0)
    down = PlatformStatus(aborts=3, failing_since=5.0, error="503")
    result = cycle(state(old, late, platforms={"simulated": down}), error="504")

    assert result.status is CycleStatus.OK
    assert result.evaluations["t"].outcome == "PLATFORM_UNREACHABLE"
    assert "504" in result.evaluations["t"].detail
    assert result.state.slices == {"old": old, "late": late}
    assert result.deletes == ()


# -- memory


def test_back_off_memory_outlives_its_marker_until_a_slice_is_stable() -> None:
    memory = GroupControl(backoff=BackoffMemory(3, NOW - 700))

    def failures(ready_since: float) -> int:
        stored = state(item(ready_since=ready_since), controls={"t": memory})
        return cycle(stored, seen()).state.controls["t"].backoff.failures

    assert failures(NOW - 600) == 0
    assert failures(NOW - 599) == 3
    assert failures(NOW - 5000) == 3  # stable before the failure


def test_a_success_clears_the_marker_and_keeps_the_count() -> None:
    probe = item("p", SliceState.BOOTING, created=NOW - 50, probe=True)
    marker = Marker("t", MarkerKind.BACKOFF, NOW - 200, NOW - 80, failures=3, last_failure=NOW - 200)
    memory = GroupControl(backoff=BackoffMemory(3, NOW - 200))
    result = cycle(state(probe, markers={("t", MarkerKind.BACKOFF): marker}, controls={"t": memory}), seen("p"))

    assert result.state.markers == {}
    assert result.state.controls["t"].backoff.failures == 3


def test_a_failure_that_came_after_the_probe_was_asked_for_is_not_cleared_by_it() -> None:
    probe = item("p", SliceState.BOOTING, created=NOW - 50, probe=True)
    marker = Marker("t", MarkerKind.STOCKOUT, NOW - 200, NOW + 800, last_failure=NOW - 30)
    result = cycle(state(probe, markers={("t", MarkerKind.STOCKOUT): marker}), seen("p"))

    assert ("t", MarkerKind.STOCKOUT) in result.state.markers


def test_nothing_given_is_ever_changed() -> None:
    stored = state(item(), item("b", SliceState.BOOTING))
    before = (dict(stored.slices), dict(stored.markers), dict(stored.controls))
    cycle(stored, seen(kind=SliceState.FAILED), seen("b", SliceState.FAILED, error="boom"))

    assert (dict(stored.slices), dict(stored.markers), dict(stored.controls)) == before
