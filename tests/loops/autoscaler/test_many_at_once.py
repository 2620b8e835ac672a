"""Mass changes cost a few statements; names that two platforms share stay apart."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scaling import operations
from scaling.history import Actor
from scaling.loops.autoscaler import creates, deletes, listing
from scaling.models import Action, Group, Orphan, Platform, Slice, Worker
from scaling.platforms.base import PlatformWorkerState, SliceRequest
from scaling.testing import builders
from scaling.testing.scripted_provisioner import ScriptedProvisioner
from tests.loops.autoscaler.conftest import ControlPlane, listed


def group_of(iris: ControlPlane, name: str, **fields: object) -> Group:
    return builders.make_group(
        name, platform=iris.row, max_slices=200, scale_up_rate=200, scale_down_rate=200, workers_per_slice=2, **fields
    )


def statements(act: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as seen:
        act()
    return len(seen)


def booting(iris: ControlPlane, count: int) -> None:
    """So many slices that the platform lists as ready at the next look."""
    group = group_of(iris, f"g{count}", min_slices=count)
    for _ in range(count):
        row = builders.make_slice(group, iris.clock(), state="BOOTING")
        Worker.objects.filter(slice=row).delete()
        listed(iris, row)


def ready(iris: ControlPlane, count: int, **fields: object) -> list[Slice]:
    group = group_of(iris, f"g{count}", **fields)
    rows = [builders.make_slice(group, iris.clock(), idle=700) for _ in range(count)]
    for row in rows:
        listed(iris, row)
    return rows


def many_become_ready(iris: ControlPlane, count: int) -> None:
    booting(iris, count)


def many_fall_silent(iris: ControlPlane, count: int) -> None:
    for row in ready(iris, count, min_slices=count):
        iris.platform.set_worker(row.name, 0, PlatformWorkerState.UNKNOWN)


def many_are_released(iris: ControlPlane, count: int) -> None:
    ready(iris, count)


def many_are_released_by_a_drain(iris: ControlPlane, count: int) -> None:
    rows = ready(iris, count)
    operations.drain_group(Actor.user("ada"), rows[0].group.name, "maintenance")


def many_are_gone(iris: ControlPlane, count: int) -> None:
    for row in ready(iris, count):
        Slice.objects.filter(pk=row.pk).update(state="TERMINATING", delete_asked_at=iris.clock())
        iris.platform.forget(row.name)


@pytest.mark.parametrize(
    "happens",
    [many_become_ready, many_fall_silent, many_are_released, many_are_released_by_a_drain, many_are_gone],
)
def test_what_happens_to_many_slices_costs_hardly_more_statements_than_to_few(
    iris: ControlPlane, happens: Callable[[ControlPlane, int], None]
) -> None:
    costs = []
    for count in (3, 60):
        happens(iris, count)
        costs.append(statements(iris.plan))
        iris.killed()
        iris.platform.slices.clear()
        Slice.objects.update(ended_at=iris.clock(), state="GONE")
        Group.objects.update(max_slices=0, min_slices=0)
    few, many = costs
    assert many <= few + 8


def test_each_release_follows_from_the_latest_order_to_drain_its_slice_or_its_group(
    iris: ControlPlane, actor: Actor
) -> None:
    drained, other = (builders.make_group(name, platform=iris.row, min_slices=1) for name in ("drained", "other"))
    rows = {
        name: builders.make_slice(group, iris.clock(), idle=2000, name=name)
        for name, group in (("a", drained), ("b", drained), ("c", other), ("d", other))
    }
    for row in rows.values():
        listed(iris, row)
    for _order in range(2):
        operations.drain_group(actor, "drained", "maintenance")
        operations.drain_slice(actor, "c", "bad disk")
        if _order == 0:
            operations.undrain_group(actor, "drained")
            operations.undrain_slice(actor, "c")
    operations.drain_slice(actor, "b", "bad fan")
    iris.cycle()
    latest = {
        "a": Action.objects.filter(kind="drain", group="drained", slice="").latest("pk").pk,
        "b": Action.objects.get(kind="drain", slice="b").pk,
        "c": Action.objects.filter(kind="drain", slice="c").latest("pk").pk,
    }
    assert {action.slice: action.cause_id for action in iris.actions("scale_down")} == latest


def test_orphans_of_one_name_on_two_platforms_are_each_swept_from_their_own(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = builders.make_platform("other", mode=Platform.Mode.ACT)
    second = ScriptedProvisioner(now=lambda: iris.clock().timestamp())
    for module in (listing, creates, deletes):
        monkeypatch.setattr(module, "provisioner", lambda row: second if row.name == "other" else iris.platform)
    builders.make_group("v5p", platform=iris.row)
    builders.make_group("v5e", platform=other)
    for platform in (iris.platform, second):
        platform.create_slice(SliceRequest("lost", "deleted-group", "iris-test", "", "tpu", "v5p-8", 4, 1, "on_demand"))
    Orphan.objects.create(name="lost", platform=other, first_seen_at=iris.clock() - timedelta(seconds=300))
    iris.cycle()
    assert set(Orphan.objects.values_list("platform__name", "name")) == {("other", "lost")}
    for _ in range(30):
        iris.later(120)
        iris.cycle()
        for platform in (iris.platform, second):
            if ("delete", "lost") in platform.calls and "lost" in platform.slices:
                platform.forget("lost")
    assert not iris.platform.slices
    assert not second.slices
    assert not Orphan.objects.exists()
