"""What a slice of the simulated cloud goes through, and that its books are its own."""

import pytest

from scaling.platforms.base import PlatformError, PlatformWorkerState, SliceExistsError, SliceNotFoundError
from scaling.platforms.simulated import Answer, CallKind
from scaling.platforms.simulated.life import history
from tests.platforms.conftest import START, Rig, request


def test_a_slice_boots_becomes_ready_and_is_gone_after_its_deletion(rig: Rig) -> None:
    rig.buy("a")
    assert rig.listed() == {"a": "BOOTING"}
    rig.at += 29.9
    assert rig.listed() == {"a": "BOOTING"}
    rig.at = START + 30
    assert rig.listed() == {"a": "READY"}
    rig.client.delete_slice("a", "iris-1")
    assert rig.listed() == {"a": "TERMINATING"}
    rig.at += rig.settings.delete_seconds
    assert rig.listed() == {}
    (booked,) = rig.books.slices()
    assert history(booked) == [
        (START, "BOOTING"),
        (START + 30, "READY"),
        (START + 30, "TERMINATING"),
        (START + 35, "GONE"),
    ]


def test_a_slice_is_ready_with_its_last_worker(rig: Rig) -> None:
    rig.behave(boot_spread_seconds=20.0)
    rig.buy("a", workers=8)
    rig.at += 40
    (found,) = rig.client.list_slices("iris-1")
    states = {worker.state for worker in found.workers}
    assert found.state == "BOOTING"
    assert states == {PlatformWorkerState.BOOTING, PlatformWorkerState.READY}
    rig.at += 10
    (found,) = rig.client.list_slices("iris-1")
    assert found.state == "READY"
    assert [worker.index for worker in found.workers] == list(range(8))
    assert {worker.state for worker in found.workers} == {PlatformWorkerState.READY}


def test_the_same_name_again_is_refused_and_buys_nothing(rig: Rig) -> None:
    rig.buy("a")
    with pytest.raises(SliceExistsError, match="already exists"):
        rig.buy("a")
    assert rig.books.accepted_creates("a") == 1


def test_a_name_is_free_again_once_its_slice_is_gone_and_the_books_count_both(rig: Rig) -> None:
    rig.buy("a")
    rig.client.delete_slice("a", "iris-1")
    with pytest.raises(SliceExistsError):
        rig.buy("a")
    rig.at += 10
    rig.buy("a")
    assert rig.books.accepted_creates("a") == 2
    assert [booked.name for booked in rig.books.live(rig.at)] == ["a"]


def test_deleting_what_is_not_there_says_so_and_deleting_twice_is_no_error(rig: Rig) -> None:
    with pytest.raises(SliceNotFoundError):
        rig.client.delete_slice("nothing", "iris-1")
    rig.buy("a")
    rig.client.delete_slice("a", "iris-1")
    gone_at = rig.books.slices()[0].gone_at
    rig.at += 1
    rig.client.delete_slice("a", "iris-1")
    assert rig.books.slices()[0].gone_at == gone_at


def test_slices_of_another_installation_are_neither_listed_nor_ended(rig: Rig) -> None:
    rig.buy("theirs", installation="iris-2")
    with pytest.raises(SliceNotFoundError):
        rig.client.delete_slice("theirs", "iris-1")
    assert rig.listed("iris-1") == {}
    assert rig.listed("iris-2") == {"theirs": "BOOTING"}


def test_each_cloud_has_books_of_its_own(rig: Rig) -> None:
    other = Rig(rig.store)
    rig.buy("a")
    other.buy("a")
    rig.script.stock_out()
    other.buy("b")
    assert [booked.name for booked in rig.books.slices()] == ["a"]
    assert [booked.name for booked in other.books.slices()] == ["a", "b"]


def test_a_preempted_worker_vanishes_for_good_and_a_silent_one_comes_back(rig: Rig) -> None:
    rig.buy("a")
    rig.at += 30
    rig.script.preempt("a", worker=1)
    rig.script.silence("a", seconds=20, worker=0)
    (found,) = rig.client.list_slices("iris-1")
    assert [worker.state for worker in found.workers] == ["UNKNOWN", "NOT_FOUND"]
    rig.at += 20
    (found,) = rig.client.list_slices("iris-1")
    assert [worker.state for worker in found.workers] == ["READY", "NOT_FOUND"]


def test_a_slice_can_vanish_as_a_whole(rig: Rig) -> None:
    rig.buy("a")
    rig.script.vanish("a")
    assert rig.listed() == {}


@pytest.mark.parametrize("act", ["preempt", "vanish"])
def test_levers_on_a_slice_that_is_not_there_say_which(rig: Rig, act: str) -> None:
    with pytest.raises(PlatformError, match="has no slice named ghost"):
        getattr(rig.script, act)("ghost")


def test_a_worker_that_the_slice_does_not_have_cannot_be_preempted(rig: Rig) -> None:
    rig.buy("a")
    with pytest.raises(PlatformError, match="expected 0 to 1 of a, got 2"):
        rig.script.preempt("a", worker=2)


def test_every_call_is_in_the_books_with_its_effect_and_its_answer(rig: Rig) -> None:
    rig.behave(answer_seconds=2.0)
    rig.buy("a")
    with pytest.raises(SliceExistsError):
        rig.buy("a")
    rig.listed()
    rig.client.delete_slice("a", "iris-1")
    told = [
        (c.kind, c.slice, c.answer, c.effect_at is not None, (c.answered_at or 0) - c.arrived_at)
        for c in rig.books.calls()
    ]
    assert told == [
        (CallKind.CREATE, "a", Answer.ACCEPTED, True, 2.0),
        (CallKind.CREATE, "a", Answer.EXISTS, False, 2.0),
        (CallKind.LIST, "", Answer.LISTED, False, 2.0),
        (CallKind.DELETE, "a", Answer.ACCEPTED, True, 2.0),
    ]
    assert {c.installation for c in rig.books.calls()} == {"iris-1"}
    assert all(c.caller for c in rig.books.calls())


def test_what_is_over_can_be_forgotten_and_what_lives_stays(rig: Rig) -> None:
    rig.buy("old")
    rig.client.delete_slice("old", "iris-1")
    rig.script.stock_out(zone="elsewhere", for_seconds=10)
    rig.buy("alive")
    rig.at += 1000
    rig.books.forget_before(rig.at)
    assert [booked.name for booked in rig.books.slices()] == ["alive"]
    assert rig.books.calls() == []
    assert rig.books.rules() == []


def test_devices_count_for_a_quota_and_workers_where_there_are_none(rig: Rig) -> None:
    rig.buy("tpus")
    rig.buy("machines", devices_per_worker=0, workers=3)
    assert [booked.devices for booked in rig.books.slices()] == [8, 3]


def test_the_usual_request_is_what_the_books_hold(rig: Rig) -> None:
    rig.buy("a")
    (booked,) = rig.books.slices()
    asked = request("a")
    for name in ("name", "group", "zone", "device_type", "device_variant", "capacity_type", "quota_pool", "workers"):
        assert getattr(booked, name) == getattr(asked, name)
