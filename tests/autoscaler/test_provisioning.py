"""Section 5: a platform's answer to a create."""

from dataclasses import replace

import pytest

from scaling.autoscaler.models import (
    ActionKind,
    BackoffMemory,
    GroupControl,
    Marker,
    MarkerKind,
    QuotaPool,
    ScalingGroup,
    Slice,
    SliceState,
)
from scaling.autoscaler.provisioning import CreateAnswer, apply_create_answer, classify_create_failure
from tests.autoscaler.cluster import DENIED, STOCKOUT, TOO_FAST, TRANSIENT, tpu

NOW = 500.0
SLICE = Slice("s", "t", SliceState.REQUESTING, created=490.0, sent_at=495.0)
POOL = QuotaPool("p", 100, "TPUV5sPerProject")


def answer(error: object, *markers: Marker, item: Slice = SLICE, **fields: object) -> CreateAnswer:
    group = ScalingGroup(tpu("t", quota_pool="p"))
    control = fields.get("control", GroupControl())
    assert isinstance(control, GroupControl)
    found = {marker.kind: marker for marker in markers}
    return apply_create_answer(item, error, group, found, control, POOL, NOW, retry_delay=7.0)


def test_the_class_of_an_error_is_a_word() -> None:
    assert classify_create_failure("RESOURCE_EXHAUSTED: nvidia-tesla-a100 not available in us-east1") == "stockout"
    assert classify_create_failure("something nobody has ever seen") == "transient"
    assert classify_create_failure(RuntimeError(STOCKOUT)) == "stockout"


def test_an_accepted_slice_boots() -> None:
    found = answer(None)

    assert (found.accepted, found.retry) == (True, False)
    assert found.slice.state is SliceState.BOOTING
    assert found.actions == ()


@pytest.mark.parametrize("state", [SliceState.BOOTING, SliceState.READY, SliceState.DRAINING])
def test_an_answer_that_comes_after_a_listing_takes_nothing_back(state: SliceState) -> None:
    assert answer(None, item=replace(SLICE, state=state)).slice.state is state


def test_existing_already_under_our_name_is_success() -> None:
    found = answer("409 The resource 'projects/p/zones/z/instances/s' already exists")

    assert found.accepted
    assert found.slice.state is SliceState.BOOTING


def test_a_rate_limit_keeps_the_request_for_a_retry_and_marks_nothing() -> None:
    found = answer(TOO_FAST)

    assert (found.accepted, found.retry) == (False, True)
    assert (found.slice.state, found.slice.retry_at) == (SliceState.REQUESTING, NOW + 7)
    assert (found.markers, found.actions) == ({}, ())


@pytest.mark.parametrize(
    ("error", "kind", "until"),
    [
        (STOCKOUT, MarkerKind.STOCKOUT, NOW + 900),
        (TRANSIENT, MarkerKind.BACKOFF, NOW + 30),
        (DENIED, MarkerKind.PERMANENT, None),
        ("Quota limit 'X' has been exceeded. Limit: 8 in region r.", MarkerKind.QUOTA, NOW + 300),
        ("Quota limit 'X' has been exceeded. Limit: 0 in region r.", MarkerKind.QUOTA, NOW + 3600),
    ],
)
def test_a_refusal_fails_the_slice_and_marks_the_group(error: str, kind: MarkerKind, until: float | None) -> None:
    found = answer(error)

    assert (found.accepted, found.retry, found.slice.state) == (False, False, SliceState.FAILED)
    assert found.slice.error == error
    assert found.markers[kind].until == until
    assert [action.kind for action in found.actions] == [ActionKind.CREATE_FAILED, ActionKind.MARKER_SET]


def test_what_waiting_does_not_help_needs_a_person() -> None:
    zero = answer("Quota limit 'X' has been exceeded. Limit: 0 in region r.").markers[MarkerKind.QUOTA]
    some = answer("Quota limit 'X' has been exceeded. Limit: 8 in region r.").markers[MarkerKind.QUOTA]

    assert (zero.needs_person, some.needs_person) == (True, False)
    assert answer(DENIED).markers[MarkerKind.PERMANENT].needs_person


def test_other_markers_stay() -> None:
    stock = Marker("t", MarkerKind.STOCKOUT, 0, 900)

    assert set(answer(TRANSIENT, stock).markers) == {MarkerKind.STOCKOUT, MarkerKind.BACKOFF}


def test_a_failure_on_an_active_back_off_counts_once() -> None:
    active = Marker("t", MarkerKind.BACKOFF, NOW - 10, NOW + 20, failures=1, last_failure=NOW - 10)
    found = answer(TRANSIENT, active, control=GroupControl(backoff=BackoffMemory(1, NOW - 10)))

    assert found.markers[MarkerKind.BACKOFF].until == NOW + 20
    assert found.control.backoff == BackoffMemory(1, NOW)
    assert [action.kind for action in found.actions] == [ActionKind.CREATE_FAILED]


def test_a_failure_after_the_back_off_ran_out_doubles_it() -> None:
    over = Marker("t", MarkerKind.BACKOFF, NOW - 40, NOW - 10, failures=1, last_failure=NOW - 40)
    found = answer(TRANSIENT, over, control=GroupControl(backoff=BackoffMemory(1, NOW - 40)))

    assert found.markers[MarkerKind.BACKOFF].until == NOW + 60
    assert found.control.backoff == BackoffMemory(2, NOW)


def test_a_shorter_quota_marker_never_shortens_a_longer_one() -> None:
    hour = Marker("t", MarkerKind.QUOTA, NOW - 10, NOW + 3590, needs_person=True)
    found = answer("Quota limit 'X' has been exceeded. Limit: 8 in region r.", hour).markers[MarkerKind.QUOTA]

    assert (found.until, found.since, found.needs_person, found.failures) == (NOW + 3590, NOW - 10, True, 2)


def test_an_acknowledgement_lasts_while_the_marker_goes_on_and_not_beyond() -> None:
    known = Marker("t", MarkerKind.STOCKOUT, NOW - 100, NOW + 800, acknowledged_at=NOW - 50, acknowledged_by="ann")
    over = replace(known, until=NOW - 1)

    assert answer(STOCKOUT, known).markers[MarkerKind.STOCKOUT].acknowledged_by == "ann"
    assert answer(STOCKOUT, over).markers[MarkerKind.STOCKOUT].acknowledged_by == ""
    assert answer(STOCKOUT, over).markers[MarkerKind.STOCKOUT].since == NOW


def test_a_limit_is_learned_only_from_the_pools_own_metric() -> None:
    def learned(text: str) -> int | None:
        pool = answer(text).pool
        assert pool is not None
        return pool.learned_limit

    own = "Quota limit 'TPUV5sPerProject' has been exceeded. Limit: {} in region r."
    assert learned(own.format(24)) == 24
    assert learned(own.format("24.0")) == 24
    assert learned(own.format(0)) is None
    assert learned("Quota limit 'TPUV5sPerProjectPerZone' has been exceeded. Limit: 24 in region r.") is None
    assert learned(STOCKOUT) is None
