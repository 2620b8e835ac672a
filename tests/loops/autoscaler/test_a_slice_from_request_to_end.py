"""The life of a slice as the live cycle stores it, with the history that tells of it."""

from datetime import timedelta

from scaling import operations
from scaling.history import Actor
from scaling.models import GroupStatus, Hint, Job, Marker, Slice, Task
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, listed


def a_group_and_a_job(iris: ControlPlane, tasks: int = 1, **group: object) -> None:
    builders.make_group("v5p", platform=iris.row, **group)
    builders.make_job(iris.clock(), "train", tasks=tasks, pending_tasks=tasks)


def test_a_waiting_job_makes_the_platform_be_asked_for_one_slice(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.plan()
    assert iris.states() == {"REQUESTING": 1}
    assert not iris.platform.requests
    iris.drain_queue()
    row = Slice.objects.get()
    assert [request.name for request in iris.platform.requests] == [row.name]
    assert (row.state, row.attempts, row.next_attempt_at) == ("BOOTING", 1, None)


def test_no_second_slice_is_asked_for_while_the_first_boots(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    for _ in range(4):
        iris.cycle()
        iris.later(10)
    assert len(iris.platform.requests) == 1


def test_a_listed_ready_slice_becomes_ready_with_its_workers(iris: ControlPlane) -> None:
    a_group_and_a_job(iris, workers_per_slice=2)
    iris.cycle()
    iris.platform.make_ready()
    iris.later(30)
    iris.cycle()
    row = Slice.objects.get()
    assert row.state == "READY"
    assert [worker.state for worker in row.workers.all()] == ["READY", "READY"]
    assert row.idle_since is None or row.idle_since == row.ready_at


def test_ready_follows_from_the_request_in_the_history(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.cycle()
    iris.platform.make_ready()
    iris.later(30)
    iris.cycle()
    (asked,) = iris.actions("scale_up")
    (ready,) = iris.actions("slice_ready")
    assert ready.cause_id == asked.pk
    assert ready.cycle is not None


def test_an_idle_slice_is_released_and_gone_once_it_is_no_longer_listed(iris: ControlPlane) -> None:
    group = builders.make_group("v5p", platform=iris.row, idle_threshold_seconds=60)
    builders.make_job(iris.clock(), "train")
    iris.cycle()
    iris.platform.make_ready()
    iris.later(30)
    Job.objects.all().delete()
    iris.cycle()
    iris.later(90)
    iris.cycle()
    name = Slice.objects.get().name
    assert ("delete", name) in iris.platform.calls
    assert Slice.objects.get().state == "TERMINATING"
    iris.platform.forget(name)
    iris.later(10)
    iris.cycle()
    row = Slice.objects.get()
    assert (row.state, row.ended_at) == ("GONE", iris.clock())
    assert not row.workers.exists()
    assert group.slices.filter(ended_at=None).count() == 0


def test_a_refusal_fails_the_slice_and_marks_the_group_each_linked_to_its_cause(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.platform.fail("create", 'There is no more capacity in the zone "us-east5-a"')
    iris.cycle()
    row = Slice.objects.get()
    assert (row.state, row.ended_at) == ("FAILED", iris.clock())
    marker = Marker.objects.get()
    assert (marker.kind, marker.until) == ("stockout", iris.clock() + timedelta(minutes=15))
    (asked,), (failed,), (marked,) = (iris.actions(kind) for kind in ("scale_up", "create_failed", "marker_set"))
    assert failed.cause_id == asked.pk
    assert marked.cause_id == failed.pk
    assert failed.outcome == "failed"


def test_a_groups_record_tells_a_stock_out_with_the_answer_as_the_next_cycle_does(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.platform.fail("create", 'There is no more capacity in the zone "us-east5-a"')
    iris.cycle()
    record = GroupStatus.objects.values("outcome", "detail", "checks", "stockout_until", "backoff_expires_at")
    told, marker = record.get(), Marker.objects.get()
    assert (told["outcome"], told["stockout_until"]) == ("STOCKOUT", marker.until)
    iris.later(10)
    iris.cycle()
    assert record.get() == told
    operations.hold_marker(Actor.user("ada"), marker.pk, iris.clock() + timedelta(hours=2))
    assert record.get()["stockout_until"] == iris.clock() + timedelta(hours=2)
    operations.clear_marker(Actor.user("ada"), marker.pk)
    assert (record.get()["outcome"], record.get()["stockout_until"]) == ("AVAILABLE", None)


def test_a_per_minute_limit_keeps_the_request_for_a_retry_and_marks_nothing(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.platform.fail("create", "429: Quota exceeded for quota metric 'Create requests' and limit 'per minute'")
    iris.cycle()
    row = Slice.objects.get()
    assert row.state == "REQUESTING"
    assert row.next_attempt_at is not None
    assert row.next_attempt_at > iris.clock()
    assert not Marker.objects.exists()
    iris.later(61)
    iris.cycle()
    assert Slice.objects.get().state == "BOOTING"
    assert len(iris.platform.requests) == 1


def test_a_slice_that_fails_after_acceptance_is_told_to_go_and_ends(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.cycle()
    name = Slice.objects.get().name
    iris.platform.make_failed(name, "There is no more capacity in the zone")
    Job.objects.all().delete()
    iris.later(10)
    iris.cycle()
    assert Slice.objects.get().state == "FAILED"
    assert ("delete", name) in iris.platform.calls
    iris.platform.forget(name)
    iris.later(10)
    iris.cycle()
    row = Slice.objects.get()
    assert (row.state, row.ended_at) == ("FAILED", iris.clock())


def test_a_lost_worker_gives_up_the_whole_slice(iris: ControlPlane) -> None:
    from scaling.platforms.base import PlatformWorkerState

    a_group_and_a_job(iris, workers_per_slice=2, min_slices=1)
    iris.cycle()
    iris.platform.make_ready()
    iris.later(30)
    iris.cycle()
    first = Slice.objects.get().name
    iris.platform.set_worker(first, 1, PlatformWorkerState.NOT_FOUND)
    for _ in range(3):
        iris.later(10)
        iris.cycle()
    assert iris.actions("slice_lost")[0].slice == first
    assert Slice.objects.get(name=first).state == "FAILED"


def test_a_job_is_told_why_it_waits_and_the_hint_goes_when_it_is_served(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.cycle()
    hint = Hint.objects.get()
    assert hint.code == "scaling_up"
    since = hint.since
    iris.later(10)
    iris.cycle()
    assert Hint.objects.get().code == "waiting_for_workers"
    assert Hint.objects.get().since > since
    iris.platform.make_ready()
    iris.later(10)
    iris.cycle()
    assert not Hint.objects.exists()


def test_the_platforms_own_words_are_kept_once(iris: ControlPlane) -> None:
    a_group_and_a_job(iris)
    iris.platform.fail("create", "There is no more capacity in the zone")
    iris.cycle()
    assert Slice.objects.get().error == "There is no more capacity in the zone"
    assert Marker.objects.get().message == "There is no more capacity in the zone"


def test_room_that_was_just_freed_on_a_busy_worker_is_used_before_a_slice_is_bought(iris: ControlPlane) -> None:
    group = builders.make_group("cpu", platform=iris.row, device_type="cpu", device_variant="", worker_cpu=8)
    row = builders.make_slice(group, iris.clock(), idle=None)
    listed(iris, row)
    worker = row.workers.get()
    old = builders.make_job(iris.clock(), "old", state="running", pending_tasks=0, running_tasks=1)
    for ended in (None, iris.clock() - timedelta(seconds=30)):
        state = Task.State.DONE if ended else Task.State.RUNNING
        Task.objects.create(job=old, worker=worker, state=state, cpu=4, assigned_at=row.ready_at, ended_at=ended)
    builders.make_job(
        iris.clock(), "next", spec={"resources": {"cpu": 4}}, submitted_at=iris.clock() - timedelta(seconds=500)
    )
    iris.cycle()
    assert iris.platform.requests[1:] == []
