"""The points of the groups' charts: stored by the cycle where something differs, one a minute at most."""

from scaling.models import Group, GroupSample
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane


def samples() -> list[tuple[int | None, ...]]:
    found = GroupSample.objects.order_by("group__name", "at")
    return list(found.values_list("ready", "in_flight", "demand", "max_slices"))


def test_each_change_is_a_sample_and_nothing_else_is(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, max_slices=3)
    iris.cycle()
    builders.make_job(iris.clock(), "train", tasks=1, pending_tasks=1)
    for _ in range(3):
        iris.later(61)
        iris.cycle()
    iris.platform.make_ready()
    iris.later(61)
    iris.cycle()
    Group.objects.update(max_slices=5)
    iris.later(61)
    iris.cycle()
    assert samples() == [(0, 0, 0, 3), (0, 0, 1, 3), (0, 1, 1, 3), (1, 0, 1, 3), (1, 0, 1, 5)]


def test_of_the_cycles_of_a_minute_the_last_stays(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, max_slices=3)
    iris.clock.set(iris.clock().replace(second=0))
    for maximum in (3, 4, 5):
        Group.objects.update(max_slices=maximum)
        iris.cycle()
        iris.later(10)
    assert samples() == [(0, 0, 0, 5)]
    assert GroupSample.objects.get().at.second == 0


def test_the_first_cycle_after_a_pause_of_all_tells_when_knowing_ended(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, max_slices=3)
    iris.cycle()
    began = iris.clock().replace(second=0, microsecond=0)
    iris.later(3600)
    iris.cycle()
    assert samples() == [(0, 0, 0, 3), (None, None, None, None), (0, 0, 0, 3)]
    gap = GroupSample.objects.get(ready=None)
    assert (gap.at - began).total_seconds() == 60
