"""Whatever moment the process dies at, nothing is bought twice, forgotten or orphaned."""

import pytest

from scaling.loops.autoscaler import creates, cycle
from scaling.loops.autoscaler.answers import store_answer
from scaling.models import Action, Slice
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, Killed


def demand(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row)
    builders.make_job(iris.clock(), "train")


def two_more_cycles(iris: ControlPlane) -> None:
    iris.killed()
    for _ in range(2):
        iris.later(30)
        iris.cycle()


def bought_once(iris: ControlPlane) -> None:
    row = Slice.objects.get()
    assert (row.state, len(iris.platform.requests)) == ("BOOTING", 1)
    assert list(iris.platform.slices) == [row.name]


def test_killed_before_the_intent_is_stored(iris: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    demand(iris)
    with monkeypatch.context() as patch:
        patch.setattr(cycle, "store", _killed)
        with pytest.raises(Killed):
            iris.plan()
    assert not Slice.objects.exists()
    two_more_cycles(iris)
    bought_once(iris)


def test_killed_with_the_intent_stored_and_nothing_sent(iris: ControlPlane) -> None:
    demand(iris)
    iris.plan()
    two_more_cycles(iris)
    bought_once(iris)


def test_killed_after_sending_before_the_platform_took_it(iris: ControlPlane) -> None:
    demand(iris)
    iris.plan()
    iris.platform.before = lambda kind, _name: _killed() if kind == "create" else None
    with pytest.raises(Killed):
        iris.drain_queue()
    iris.platform.before = lambda _kind, _name: None
    assert Slice.objects.get().state == "REQUESTING"
    two_more_cycles(iris)
    bought_once(iris)


def test_killed_after_the_platform_took_it_before_it_answered(iris: ControlPlane) -> None:
    demand(iris)
    iris.plan()
    iris.platform.after = lambda kind, _name: _killed() if kind == "create" else None
    with pytest.raises(Killed):
        iris.drain_queue()
    iris.platform.after = lambda _kind, _name: None
    two_more_cycles(iris)
    bought_once(iris)


def test_killed_with_the_answer_received_and_not_saved(iris: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    demand(iris)
    iris.plan()
    with monkeypatch.context() as patch:
        patch.setattr(creates, "store_answer", _killed)
        with pytest.raises(Killed):
            iris.drain_queue()
    assert store_answer is creates.store_answer
    two_more_cycles(iris)
    bought_once(iris)


def test_killed_after_the_answer_was_saved(iris: ControlPlane) -> None:
    demand(iris)
    iris.cycle()
    two_more_cycles(iris)
    bought_once(iris)
    assert Action.objects.filter(kind="scale_up").count() == 1


def test_a_task_that_runs_twice_asks_once(iris: ControlPlane) -> None:
    demand(iris)
    iris.plan()
    task, args = iris.queued[0]
    task(*args)
    task(*args)
    assert len([call for call in iris.platform.calls if call[0] == "create"]) == 1


def test_a_slice_of_ours_that_was_forgotten_is_adopted(iris: ControlPlane) -> None:
    demand(iris)
    iris.cycle()
    name = Slice.objects.get().name
    Slice.objects.all().delete()
    iris.later(10)
    iris.cycle()
    assert Slice.objects.get().name == name
    assert len(iris.platform.requests) == 1


def _killed(*_args: object, **_kwargs: object) -> None:
    raise Killed
