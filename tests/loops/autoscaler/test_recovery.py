"""What a lost answer or a killed process leaves behind is taken up again, as soon as that can be known."""

from collections.abc import Callable

import pytest
from django.conf import settings

from scaling.loops import leases
from scaling.loops.autoscaler import calls, cycle
from scaling.models import GroupMemory, GroupStatus, Lease, Marker, Slice
from scaling.platforms.base import PlatformUnreachableError, SliceRequest
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, Killed


def demand(iris: ControlPlane, tasks: int = 1, **group: object) -> None:
    builders.make_group("v5p", platform=iris.row, **group)
    builders.make_job(iris.clock(), "train", tasks=tasks, pending_tasks=tasks)


def idle_slices(iris: ControlPlane, count: int = 1) -> list[str]:
    """READY ones that the next cycle releases."""
    group = builders.make_group("v5p", platform=iris.row, max_slices=count, scale_down_rate=100)
    names = [builders.make_slice(group, iris.clock(), idle=400).name for _ in range(count)]
    for name in names:
        iris.platform.create_slice(
            SliceRequest(name, "v5p", "iris-test", "us-east5-a", "tpu", "v5p-8", 4, 1, "on_demand")
        )
    iris.platform.make_ready()
    return names


def deletes(iris: ControlPlane) -> list[str]:
    return [name for kind, name in iris.platform.calls if kind == "delete"]


def dies(kind: str) -> Callable[[str, str], None]:
    def die(call: str, _name: str) -> None:
        if call == kind:
            raise Killed

    return die


def claims_run_out(iris: ControlPlane) -> None:
    iris.killed()
    iris.later(2 * settings.IRIS_PLATFORM_TIMEOUT)


# -- purchases


def test_a_slice_whose_create_was_never_answered_is_found_and_used(iris: ControlPlane) -> None:
    demand(iris)
    iris.platform.fail("create", PlatformUnreachableError("No answer within 10 s."), effect=True)
    iris.cycle()
    asked = Slice.objects.get().cause_id
    iris.later(10)
    iris.cycle()
    row = Slice.objects.get()
    assert (row.state, row.ended_at, row.error, row.cause_id) == ("BOOTING", None, "", asked)
    iris.platform.make_ready()
    iris.later(40)
    iris.cycle()
    assert Slice.objects.get().state == "READY"
    assert len(iris.platform.requests) == 1


def test_a_slice_that_is_listed_again_after_it_was_gone_is_found_again(iris: ControlPlane) -> None:
    (name,) = idle_slices(iris)
    iris.cycle()
    iris.platform.forget(name)
    iris.later(10)
    iris.cycle()
    assert Slice.objects.get().state == "GONE"
    iris.platform.create_slice(SliceRequest(name, "v5p", "iris-test", "", "tpu", "v5p-8", 4, 1, "on_demand"))
    iris.later(10)
    assert iris.cycle().status == "ok"
    row = Slice.objects.get()
    assert (row.state, row.ended_at, row.delete_asked_at, row.next_attempt_at) == ("BOOTING", None, None, None)


def test_a_slice_on_its_way_out_that_is_listed_again_is_left_to_go(iris: ControlPlane) -> None:
    (name,) = idle_slices(iris)
    iris.cycle()
    going = iris.platform.slices.pop(name)
    iris.later(10)
    iris.cycle()
    iris.platform.slices[name] = going
    for _cycle in range(3):
        iris.later(10)
        iris.cycle()
    assert Slice.objects.get().state == "GONE"
    assert not Marker.objects.exists()


def test_an_intent_that_waits_for_its_task_is_paid_for_once(iris: ControlPlane) -> None:
    demand(iris, tasks=8, scale_up_rate=16)
    iris.plan()
    iris.killed()
    iris.plan()
    assert GroupMemory.objects.get().up_tokens == 8
    iris.drain_queue()
    assert len(iris.platform.requests) == 8


# -- releases


def test_a_release_whose_task_was_lost_is_told_by_the_next_cycle(iris: ControlPlane) -> None:
    names = idle_slices(iris)
    iris.plan()
    iris.killed()
    assert deletes(iris) == []
    iris.later(1)
    iris.cycle()
    assert deletes(iris) == names
    assert Slice.objects.get().state == "TERMINATING"


def test_a_release_whose_process_died_while_telling_is_told_again_once_its_claim_has_run_out(
    iris: ControlPlane,
) -> None:
    names = idle_slices(iris)
    iris.plan()
    iris.platform.before = dies("delete")
    with pytest.raises(Killed):
        iris.drain_queue()
    iris.platform.before = lambda _kind, _name: None
    iris.later(1)
    iris.cycle()
    assert deletes(iris) == names
    claims_run_out(iris)
    iris.cycle()
    assert deletes(iris) == names * 2


def test_a_release_whose_answer_was_lost_with_its_process_ends_all_the_same(iris: ControlPlane) -> None:
    (name,) = idle_slices(iris)
    iris.plan()
    iris.platform.after = dies("delete")
    with pytest.raises(Killed):
        iris.drain_queue()
    iris.platform.after = lambda _kind, _name: None
    claims_run_out(iris)
    iris.cycle()
    assert Slice.objects.get().state == "TERMINATING"
    iris.platform.forget(name)
    iris.later(10)
    iris.cycle()
    assert Slice.objects.get().state == "GONE"


def test_what_is_left_of_a_failed_slice_is_told_to_go_although_the_first_task_was_lost(iris: ControlPlane) -> None:
    demand(iris)
    iris.cycle()
    name = Slice.objects.get().name
    iris.platform.make_failed(name, "There is no more capacity in the zone")
    iris.later(10)
    iris.plan()
    iris.killed()
    iris.later(1)
    iris.cycle()
    assert deletes(iris) == [name]
    row = Slice.objects.get(name=name)
    assert (row.state, row.error) == ("FAILED", "There is no more capacity in the zone")


def test_a_release_task_that_runs_twice_tells_once(iris: ControlPlane) -> None:
    names = idle_slices(iris)
    iris.plan()
    task, args = iris.queued[0]
    task(*args)
    task(*args)
    assert deletes(iris) == names


def test_a_release_that_failed_waits_and_is_not_repeated_in_each_cycle(iris: ControlPlane) -> None:
    names = idle_slices(iris)
    iris.platform.fail("delete", "503 from the API")
    iris.cycle()
    assert deletes(iris) == names
    iris.later(10)
    iris.cycle()
    assert deletes(iris) == names
    iris.later(60)
    iris.cycle()
    assert deletes(iris) == names * 2
    assert Slice.objects.get().error == ""


def test_more_releases_than_one_wave_are_all_told(iris: ControlPlane) -> None:
    names = idle_slices(iris, calls.WAVE + 4)
    iris.cycle()
    assert sorted(deletes(iris)) == sorted(names)
    assert iris.states() == {"TERMINATING": calls.WAVE + 4}


# -- cycles


def test_a_cycle_gives_its_lease_back_for_whichever_worker_gets_the_next(iris: ControlPlane) -> None:
    cycle.run(iris.clock())
    assert Lease.objects.get().holder == ""
    held = leases.hold(cycle.LEASE, "another worker", 15, iris.clock())
    assert held is not None
    assert held.token == 2


def test_a_cycle_that_failed_gives_its_lease_back(iris: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cycle, "store", fails)
    with pytest.raises(ZeroDivisionError):
        cycle.run(iris.clock())
    assert Lease.objects.get().holder == ""


def test_what_another_worker_stored_of_a_group_meanwhile_is_seen(iris: ControlPlane) -> None:
    demand(iris)
    iris.cycle()
    iris.later(10)
    iris.cycle()
    told = GroupStatus.objects.values().get()
    GroupStatus.objects.update(outcome="STOCKOUT", target=7)
    iris.later(10)
    iris.cycle()
    again = GroupStatus.objects.values().get()
    assert (again["outcome"], again["target"]) == (told["outcome"], told["target"])
