"""A worker that its platform lists as READY, and of which nothing is heard any more."""

from dataclasses import replace

import pytest

from scaling import operations
from scaling.history import Actor
from scaling.loops import workers
from scaling.models import Marker, Platform, Slice, Worker
from scaling.platforms.base import PlatformWorkerState
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, listed

STEP_SECONDS = 30


@pytest.fixture
def slice_(iris: ControlPlane) -> Slice:
    """Two workers on a real platform, just heard; an operator keeps one such slice."""
    Platform.objects.filter(pk=iris.row.pk).update(kind="gcp", simulated=False)
    iris.row.refresh_from_db()
    group = builders.make_group("v5p", platform=iris.row, workers_per_slice=2, min_slices=1, max_slices=1)
    row = builders.make_slice(group, iris.clock(), idle=100, name="s1")
    listed(iris, row)
    return row


def pass_(iris: ControlPlane, seconds: int, heard: tuple[str, ...] = ()) -> None:
    """Time passes, with a heartbeat of those heard, a look for silence and a cycle every half a minute."""
    for _round in range(seconds // STEP_SECONDS):
        iris.later(STEP_SECONDS)
        for name in Worker.objects.filter(name__in=heard).exclude(slice__state="FAILED").values_list("name", flat=True):
            operations.heartbeat(Actor.user("ada"), name, 0)
        workers.run(iris.clock())
        iris.cycle()


def first() -> Worker:
    return Worker.objects.get(name="s1-0")


def lost(iris: ControlPlane) -> list[tuple[str, str]]:
    return [(action.slice, action.reason) for action in iris.actions("slice_lost")]


def test_a_silent_worker_that_its_platform_lists_as_ready_is_given_up_after_fifteen_minutes_with_its_slice(
    iris: ControlPlane, slice_: Slice
) -> None:
    pass_(iris, 60, heard=("s1-1",))
    since = first().unknown_since
    assert (first().state, since) == ("UNKNOWN", iris.clock())
    pass_(iris, 870, heard=("s1-1",))
    assert (first().state, first().unknown_since) == ("UNKNOWN", since)
    assert not lost(iris)
    pass_(iris, 30, heard=("s1-1",))
    assert lost(iris) == [("s1", "worker 0 was silent for 15 min")]
    assert ("delete", "s1") in iris.platform.calls
    assert not Marker.objects.exists()


def test_a_blip_is_not_a_loss_and_begins_a_whole_new_idle_window(iris: ControlPlane, slice_: Slice) -> None:
    pass_(iris, 600, heard=("s1-1",))
    pass_(iris, 30, heard=("s1-0", "s1-1"))
    assert (first().state, first().idle_since) == ("READY", iris.clock())
    pass_(iris, 600, heard=("s1-0", "s1-1"))
    assert not lost(iris)


def test_what_the_platform_cannot_see_adds_up_although_the_worker_reports(iris: ControlPlane, slice_: Slice) -> None:
    iris.platform.set_worker("s1", 0, PlatformWorkerState.UNKNOWN)
    pass_(iris, 900, heard=("s1-0", "s1-1"))
    assert not lost(iris)
    pass_(iris, 30, heard=("s1-0", "s1-1"))
    assert lost(iris) == [("s1", "worker 0 was silent for 15 min")]


def test_a_worker_that_its_platform_sees_again_is_ready_when_it_reported_all_the_time(
    iris: ControlPlane, slice_: Slice
) -> None:
    iris.platform.set_worker("s1", 0, PlatformWorkerState.UNKNOWN)
    pass_(iris, 300, heard=("s1-0", "s1-1"))
    iris.platform.set_worker("s1", 0, PlatformWorkerState.READY)
    pass_(iris, 30, heard=("s1-0", "s1-1"))
    assert (first().state, first().idle_since) == ("READY", iris.clock())


def test_a_worker_silent_to_both_is_given_up_counted_from_the_first_of_them(iris: ControlPlane, slice_: Slice) -> None:
    iris.platform.set_worker("s1", 0, PlatformWorkerState.UNKNOWN)
    pass_(iris, 300, heard=("s1-1",))
    iris.platform.set_worker("s1", 0, PlatformWorkerState.READY)
    pass_(iris, 630, heard=("s1-1",))
    assert lost(iris) == [("s1", "worker 0 was silent for 15 min")]


def test_where_a_platform_tells_nothing_of_workers_their_silence_adds_up(iris: ControlPlane, slice_: Slice) -> None:
    iris.platform.slices["s1"] = replace(iris.platform.slices["s1"], workers=())
    pass_(iris, 300, heard=("s1-1",))
    pass_(iris, 30, heard=("s1-0", "s1-1"))
    assert first().state == "READY"
    pass_(iris, 960, heard=("s1-1",))
    assert lost(iris) == [("s1", "worker 0 was silent for 15 min")]
