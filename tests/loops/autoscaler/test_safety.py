"""What stops a cycle, or makes it plan again: errors of platforms, other control planes, people acting meanwhile."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from scaling import operations
from scaling.history import Actor
from scaling.loops import leases
from scaling.loops.autoscaler import cycle, snapshot, still_holds
from scaling.models import Action, Cycle, Event, Group, Lease, Platform, QuotaPool, Slice, Task, Worker
from scaling.platforms.base import PlatformUnreachableError
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, listed


def demand(iris: ControlPlane, **group: object) -> Group:
    made = builders.make_group("v5p", platform=iris.row, **group)
    builders.make_job(iris.clock(), "train")
    return made


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """`act` happens once, after the snapshot of the next plan was read."""
    read = snapshot.read
    done: list[bool] = []

    def read_then_act() -> snapshot.Snapshot:
        found = read()
        if not done:
            done.append(True)
            act()
        return found

    monkeypatch.setattr(cycle.snapshot, "read", read_then_act)


def test_a_platform_that_cannot_be_listed_aborts_the_cycle_and_nothing_else_changes(iris: ControlPlane) -> None:
    demand(iris)
    iris.platform.fail("list", PlatformUnreachableError("503 from the API"))
    made = iris.cycle()
    assert made.status == "aborted"
    assert "503 from the API" in made.reason
    assert not Slice.objects.exists()
    assert Platform.objects.get(pk=iris.row.pk).aborts_in_a_row == 1


def test_an_aborted_cycle_leaves_ready_slices_alone(iris: ControlPlane) -> None:
    group = demand(iris)
    builders.make_slice(group, iris.clock(), idle=4000)
    iris.platform.fail("list", PlatformUnreachableError("503"))
    iris.cycle()
    assert iris.states() == {"READY": 1}


def test_a_cycle_whose_lease_was_taken_over_stores_nothing(iris: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    demand(iris)
    held = leases.hold(cycle.LEASE, "first", 15, iris.clock())
    assert held is not None
    iris.later(16)
    assert leases.hold(cycle.LEASE, "second", 15, iris.clock()) is not None
    with pytest.raises(leases.LeaseLost):
        cycle.run_held(held)
    assert not Slice.objects.exists()
    assert not Cycle.objects.exists()


def test_without_the_lease_a_cycle_does_not_even_list(iris: ControlPlane) -> None:
    demand(iris)
    Lease.objects.create(name=cycle.LEASE, holder="other", token=1, expires_at=iris.clock().replace(hour=23))
    cycle.run(iris.clock())
    assert iris.platform.calls == []


def test_a_group_drained_while_the_plan_was_made_buys_nothing(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    demand(iris)
    meanwhile(monkeypatch, lambda: operations.drain_group(actor, "v5p", "maintenance"))
    iris.cycle()
    assert not Slice.objects.exists()


def test_a_limit_lowered_while_the_plan_was_made_is_kept(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    demand(iris)
    meanwhile(monkeypatch, lambda: operations.set_group_limits(actor, "v5p", 1, {"max_slices": 0}, "closed"))
    iris.cycle()
    assert not Slice.objects.exists()


def test_a_marker_set_while_the_plan_was_made_stops_what_it_would_have_bought(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = demand(iris)
    meanwhile(monkeypatch, lambda: builders.make_marker(group, iris.clock(), "permanent"))
    iris.cycle()
    assert not Slice.objects.exists()


def test_a_marker_held_while_the_plan_renewed_it_keeps_its_later_end(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    group = demand(iris)
    marker = builders.make_marker(group, iris.clock())
    late = builders.make_slice(group, iris.clock(), state="BOOTING")
    listed(iris, late)
    iris.platform.make_failed(late.name, "There is no more capacity in the zone")
    end = builders.after(iris.clock(), 86_400)
    meanwhile(monkeypatch, lambda: operations.hold_marker(actor, marker.pk, end))
    iris.cycle()
    marker.refresh_from_db()
    assert (marker.failures, marker.until) == (2, end)


def test_a_pool_lowered_while_the_plan_was_made_is_kept(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    demand(iris, quota_pool=QuotaPool.objects.create(name="pool", limit=100))
    meanwhile(monkeypatch, lambda: operations.set_quota_pool(actor, "pool", 1, {"limit": 1}))
    iris.cycle()
    assert not Slice.objects.exists()


def test_stopping_everything_while_the_plan_was_made_wins(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    demand(iris)
    meanwhile(monkeypatch, lambda: operations.halt(actor, "something is wrong"))
    iris.cycle()
    assert iris.platform.requests == []


def test_a_task_that_lands_before_the_release_is_stored_wins(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = builders.make_group("v5p", platform=iris.row)
    row = builders.make_slice(group, iris.clock(), idle=400)
    job = builders.make_job(iris.clock(), "train", state="running", pending_tasks=0, running_tasks=1)
    listed(iris, row)

    def lands() -> None:
        worker = Worker.objects.get(slice=row)
        Task.objects.create(job=job, worker=worker, assigned_at=iris.clock())

    meanwhile(monkeypatch, lands)
    iris.cycle()
    assert Slice.objects.get().state == "READY"
    assert ("delete", row.name) not in iris.platform.calls


@pytest.mark.parametrize(
    "news",
    [
        {"reported_tasks": 1, "idle_since": None},
        {"idle_since": datetime(2026, 1, 1, 11, 59, tzinfo=UTC)},
        {"state": "UNKNOWN", "unknown_since": datetime(2026, 1, 1, 12, tzinfo=UTC), "idle_since": None},
    ],
    ids=["another scheduler's task", "a whole new idle window", "silence"],
)
def test_a_release_is_asked_for_its_reason_again_before_it_is_stored(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch, news: dict[str, object]
) -> None:
    row = builders.make_slice(builders.make_group("v5p", platform=iris.row), iris.clock(), idle=400)
    listed(iris, row)
    meanwhile(monkeypatch, lambda: Worker.objects.filter(slice=row).update(**news))
    iris.cycle()
    assert ("delete", row.name) not in iris.platform.calls
    assert Slice.objects.get().state == "READY"


def test_what_is_busy_at_the_deadline_of_a_drain_goes_with_the_tasks_that_landed_meanwhile(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = builders.make_group(
        "v5p", platform=iris.row, drain_since=iris.clock(), drain_deadline=builders.after(iris.clock(), 5)
    )
    row = builders.make_slice(group, iris.clock(), idle=None)
    listed(iris, row)
    iris.later(5)
    meanwhile(monkeypatch, lambda: Worker.objects.filter(slice=row).update(reported_tasks=1))
    iris.cycle()
    assert ("delete", row.name) in iris.platform.calls


def test_plans_that_are_always_overtaken_are_given_up_as_an_aborted_cycle(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    demand(iris)

    def always(*_: object) -> None:
        raise still_holds.Stale("a group")

    monkeypatch.setattr(still_holds, "check", always)
    assert iris.plan().status == "aborted"
    assert not Slice.objects.exists()


def test_a_watched_platform_is_planned_for_and_nothing_is_sent(iris: ControlPlane) -> None:
    demand(iris)
    Platform.objects.update(mode=Platform.Mode.OBSERVE)
    iris.cycle()
    assert iris.platform.requests == []
    assert [action.outcome for action in iris.actions("scale_up")] == ["observed"]
    iris.later(10)
    iris.cycle()
    assert len(iris.actions("scale_up")) == 1


def test_releases_of_a_watched_platform_are_told_once_in_an_idle_window(iris: ControlPlane) -> None:
    group = builders.make_group("v5p", platform=iris.row)
    rows = [builders.make_slice(group, iris.clock(), idle=400) for _ in range(2)]
    for row in rows:
        listed(iris, row)
    Platform.objects.update(mode=Platform.Mode.OBSERVE)
    for _ in range(3):
        iris.cycle()
        iris.later(10)
    assert sorted(action.slice for action in iris.actions("scale_down")) == sorted(row.name for row in rows)
    Worker.objects.filter(slice=rows[0]).update(idle_since=iris.clock())
    Slice.objects.filter(pk=rows[0].pk).update(idle_since=iris.clock())
    iris.later(400)
    iris.cycle()
    assert [action.slice for action in iris.actions("scale_down")].count(rows[0].name) == 2


def test_requests_of_a_watched_platform_for_several_purposes_are_told_once(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, min_slices=3)
    builders.make_job(iris.clock(), "train")
    Platform.objects.update(mode=Platform.Mode.OBSERVE)
    for _ in range(3):
        iris.cycle()
        iris.later(10)
    assert len({action.reason for action in iris.actions("scale_up")}) == 2
    assert len(iris.actions("scale_up")) == 3


def test_a_platform_that_answers_shows_when_it_was_listed(iris: ControlPlane) -> None:
    demand(iris)
    iris.cycle()
    iris.row.refresh_from_db()
    assert iris.row.listed_at == (seen := iris.clock())
    iris.later(10)
    iris.platform.fail("list", PlatformUnreachableError("503"))
    iris.cycle()
    iris.row.refresh_from_db()
    assert iris.row.listed_at == seen


def test_a_waiting_job_with_the_longest_names_stops_no_cycle(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row)
    builders.make_job(iris.clock(), "j" * 200, source="s" * 100, gang=True)
    assert iris.cycle().status == "ok"
    assert all(len(topic) <= 220 for topic in Event.objects.values_list("topic", flat=True))


def test_a_stop_after_the_intent_holds_the_request_back(iris: ControlPlane, actor: Actor) -> None:
    demand(iris)
    iris.plan()
    operations.halt(actor, "something is wrong")
    iris.drain_queue()
    assert iris.platform.requests == []
    operations.unhalt(actor, "fine again")
    iris.later(10)
    iris.cycle()
    assert len(iris.platform.requests) == 1


def test_a_drain_after_the_intent_cancels_what_was_not_sent(iris: ControlPlane, actor: Actor) -> None:
    demand(iris)
    iris.plan()
    operations.drain_group(actor, "v5p", "maintenance")
    iris.drain_queue()
    assert iris.platform.requests == []
    iris.later(10)
    iris.cycle()
    assert iris.states() == {"GONE": 1}


def test_a_foreign_slice_is_never_touched(iris: ControlPlane) -> None:
    from scaling.platforms.base import SliceRequest

    demand(iris, max_slices=1)
    iris.platform.create_slice(
        SliceRequest("theirs", "v5p", "somebody-else", "us-east5-a", "tpu", "v5p-8", 4, 1, "on_demand")
    )
    for _ in range(5):
        iris.cycle()
        iris.later(400)
    assert "theirs" in iris.platform.slices
    assert ("delete", "theirs") not in iris.platform.calls


def test_our_slice_without_a_group_is_swept_after_a_grace(iris: ControlPlane) -> None:
    from scaling.platforms.base import SliceRequest

    builders.make_group("v5p", platform=iris.row)
    iris.platform.create_slice(
        SliceRequest("lost", "deleted-group", "iris-test", "us-east5-a", "tpu", "v5p-8", 4, 1, "on_demand")
    )
    iris.cycle()
    assert ("delete", "lost") not in iris.platform.calls
    for _ in range(10):
        iris.later(120)
        iris.cycle()
    assert ("delete", "lost") in iris.platform.calls


def test_every_cycle_is_recorded_with_its_counts(iris: ControlPlane) -> None:
    demand(iris)
    made = iris.cycle()
    assert made.status == "ok"
    assert made.counts["requested"] == 1
    assert Action.objects.filter(cycle=made.pk).exists()
