"""A preview says what the next cycle then does, of every act, and leaves nothing behind."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Group, GroupStatus, Hint, Marker, Platform, QuotaPool, Slice
from scaling.previews import Preview, changes, preview
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, listed

ADA = Actor.user("ada")


@pytest.fixture
def now(iris: ControlPlane) -> datetime:
    return iris.clock()


@pytest.fixture
def group(iris: ControlPlane) -> Group:
    """It may have one slice."""
    return builders.make_group("g", platform=iris.row, max_slices=1)


def asked_for() -> dict[str, int]:
    """Slices asked for in the latest cycle, by group."""
    return dict(GroupStatus.objects.filter(scale_up__gt=0).values_list("group__name", "scale_up"))


def helped(found: Preview) -> list[str]:
    return [job.key for job in found.unblocked]


def test_a_raised_limit_unblocks_the_jobs_that_the_next_cycle_then_serves(
    iris: ControlPlane,
    group: Group,
    now: datetime,
) -> None:
    builders.make_job(now, "first", tasks=1, priority=200)
    builders.make_job(now, "second", tasks=2)
    iris.plan()
    assert Hint.objects.get(job__job_id="second").code == "tier_blocked"
    found = preview(changes.limits("g", {"max_slices": 3}))
    assert helped(found) == ["demo:second"]
    assert [(one.name, one.asks_before, one.asks_after) for one in found.groups] == [("g", 0, 2)]
    assert found.groups[0].outcome_after == "AVAILABLE"
    operations.set_group_limits(ADA, "g", group.version, {"max_slices": 3})
    iris.plan()
    assert asked_for() == {"g": 2} and Hint.objects.get(job__job_id="second").code == "scaling_up"


def test_a_lowered_floor_names_the_slices_that_the_next_cycle_releases(
    iris: ControlPlane,
    group: Group,
    now: datetime,
) -> None:
    Group.objects.update(min_slices=2, max_slices=4, version=2)
    for name, idle in (("g-old", 900), ("g-new", 600)):
        listed(iris, builders.make_slice(group, now, idle=idle, name=name))
    found = preview(changes.limits("g", {"min_slices": 1}))
    assert found.released == ("g-old",) and found.scope == ("g-old",)
    assert preview(changes.limits("g", {"min_slices": 2})).is_empty
    operations.set_group_limits(ADA, "g", 2, {"min_slices": 1})
    iris.plan()
    assert [action.slice for action in iris.actions("scale_down")] == ["g-old"]
    assert preview(changes.limits("g", {"min_slices": 2})).kept == (), "what has been told to go goes"


def test_a_drain_names_the_requests_it_cancels_and_the_jobs_it_holds_up(
    iris: ControlPlane,
    group: Group,
    now: datetime,
) -> None:
    builders.make_job(now, "train")
    iris.plan()
    waiting = Slice.objects.get()
    found = preview(changes.drained("g", now))
    assert found.cancelled == (waiting.name,)
    assert [(job.key, job.code) for job in found.held_up] == [("demo:train", "scaling_up")]
    operations.drain_group(ADA, "g")
    iris.queued.clear()
    iris.plan()
    waiting.refresh_from_db()
    assert waiting.state == "GONE" and Hint.objects.get().code == "tier_blocked"
    assert "demo:train" in helped(preview(changes.undrained("g")))


def test_a_pause_holds_up_what_would_be_bought(iris: ControlPlane, group: Group, now: datetime) -> None:
    builders.make_job(now, "train")
    found = preview(changes.paused("g", now))
    assert [job.key for job in found.held_up] == ["demo:train"]
    assert [(one.name, one.asks_fewer, one.outcome_after) for one in found.groups] == [("g", 1, "PAUSED")]
    operations.pause_group(ADA, "g")
    iris.plan()
    assert asked_for() == {}
    assert helped(preview(changes.resumed("g"))) == ["demo:train"]


def test_a_pause_that_is_over_by_then_changes_nothing(group: Group, now: datetime) -> None:
    builders.make_job(now, "train")
    assert preview(changes.paused("g", now, now - timedelta(seconds=1))).is_empty


def test_a_larger_pool_pays_for_what_waits(iris: ControlPlane, group: Group, now: datetime) -> None:
    pool = QuotaPool.objects.create(name="p", limit=2, learned_limit=1, learned_at=now)
    Group.objects.update(quota_pool=pool)
    builders.make_job(now, "train")
    found = preview(changes.pool("p", {"limit": 4}))
    assert helped(found) == ["demo:train"] and found.groups[0].outcome_before == "QUOTA_EXCEEDED"
    assert preview(changes.pool("p", {})).is_empty, "its own limit pays for no slice either"
    operations.set_quota_pool(ADA, "p", 1, {"limit": 4})
    iris.plan()
    assert asked_for() == {"g": 1}


def test_a_cleared_marker_opens_its_group(iris: ControlPlane, group: Group, now: datetime) -> None:
    marker = builders.make_marker(group, now)
    builders.make_job(now, "train")
    assert helped(preview(changes.without_marker("g", "stockout"))) == ["demo:train"]
    assert preview(changes.held_marker("g", "stockout", now + timedelta(days=1))).is_empty
    operations.clear_marker(ADA, marker.pk)
    iris.plan()
    assert asked_for() == {"g": 1}


def test_a_marker_held_longer_holds_up_what_its_end_would_have_tried(group: Group, now: datetime) -> None:
    builders.make_marker(group, now, until=now - timedelta(seconds=1))
    builders.make_job(now, "train")
    found = preview(changes.held_marker("g", "stockout", now + timedelta(hours=1)))
    assert [job.key for job in found.held_up] == ["demo:train"]


def test_an_edit_ends_what_holds_until_the_group_is_edited(group: Group, now: datetime) -> None:
    builders.make_marker(group, now, "permanent")
    builders.make_job(now, "train")
    assert helped(preview(changes.limits("g", {"priority": 5}))) == ["demo:train"]


def test_several_groups_change_in_one_plan(iris: ControlPlane, group: Group, now: datetime) -> None:
    builders.make_group("h", platform=iris.row, max_slices=0)
    builders.make_job(now, "train", tasks=3)
    both = changes.together(
        changes.limits("g", {"max_slices": 2, "priority": 1}), changes.limits("h", {"max_slices": 9})
    )
    assert {one.name: one.asks_after for one in preview(both).groups} == {"g": 2, "h": 1}


def test_what_is_only_observed_is_said_to_be(iris: ControlPlane, group: Group, now: datetime) -> None:
    Platform.objects.update(mode="observe")
    builders.make_job(now, "train", tasks=2)
    assert preview(changes.limits("g", {"max_slices": 2})).groups[0].observed


def test_a_platform_that_acts_buys_and_releases_what_was_only_planned(
    iris: ControlPlane, group: Group, now: datetime
) -> None:
    h = builders.make_group("h", platform=iris.row, device_type="cpu")
    idle = builders.make_slice(h, now, idle=3600, name="h-1")
    builders.make_job(now, "train", tasks=1)
    stopped = preview(changes.in_mode(iris.row.name, "observe"))
    assert [(one.name, one.asks_before, one.asks_after, one.observed) for one in stopped.groups] == [("g", 1, 0, True)]
    assert (stopped.kept, stopped.released) == ((idle.name,), ())
    Platform.objects.update(mode="observe")
    acting = preview(changes.in_mode(iris.row.name, "act"))
    assert [(one.name, one.asks_before, one.asks_after, one.observed) for one in acting.groups] == [("g", 0, 1, False)]
    assert acting.released == (idle.name,) and set(acting.scope) == {"g=+1", "h-1"}


def test_a_halt_says_what_it_stops(iris: ControlPlane, group: Group, now: datetime) -> None:
    builders.make_job(now, "train", tasks=1)
    found = preview(changes.halted(now, "ada"))
    assert found.stopped == "buying and releasing of slices is halted by ada"
    assert [(one.name, one.asks_before, one.asks_after) for one in found.groups] == [("g", 1, 0)]
    assert [job.key for job in found.held_up] == ["demo:train"] and found.scope == ("demo:train",)


def test_a_drained_slice_may_be_replaced_and_serves_again_undrained(
    iris: ControlPlane, group: Group, now: datetime
) -> None:
    Group.objects.update(max_slices=2, min_slices=1)
    row = builders.make_slice(group, now, name="g-1")
    found = preview(changes.drained_slice(row.name, now))
    assert [(one.name, one.asks_before, one.asks_after) for one in found.groups] == [("g", 0, 1)]
    operations.drain_slice(ADA, row.name)
    back = preview(changes.undrained_slice(row.name))
    assert [(one.name, one.asks_before, one.asks_after) for one in back.groups] == [("g", 1, 0)]
    assert preview(changes.drained_slice("nosuch", now)).is_empty


def test_while_everything_is_halted_nothing_happens_and_that_is_said(group: Group, now: datetime) -> None:
    builders.make_installation(halted_since=now, halted_by="bo")
    builders.make_job(now, "train", tasks=2)
    found = preview(changes.limits("g", {"max_slices": 2}))
    assert found.stopped == "buying and releasing of slices is halted by bo"
    assert helped(preview(changes.unhalted)) == []
    assert [(one.name, one.asks_after) for one in preview(changes.unhalted).groups] == [("g", 1)]


def test_a_platform_that_cannot_be_listed_stops_the_next_cycle(group: Group) -> None:
    Platform.objects.update(aborts_in_a_row=1, last_error="503")
    found = preview(changes.limits("g", {"max_slices": 2}))
    assert found.stopped.endswith("cannot be listed: 503") and found.is_empty


@pytest.mark.django_db
def test_without_an_installation_there_is_no_cycle_to_preview() -> None:
    builders.make_group("g")
    assert preview(changes.limits("g", {"max_slices": 2})).stopped == "this installation is not set up yet"


@pytest.mark.parametrize(
    "change",
    [
        changes.limits("g", {"max_slices": 9}),
        changes.drained("g", datetime(2026, 1, 1)),
        changes.undrained("g"),
        changes.together(),
    ],
)
def test_a_preview_writes_nothing(change: Callable[..., Any], group: Group, now: datetime) -> None:
    builders.make_slice(group, now, idle=4000)
    builders.make_marker(group, now)
    builders.make_job(now, "train", tasks=5)
    with CaptureQueriesContext(connection) as queries:
        preview(change)
    assert all(query["sql"].startswith("SELECT") for query in queries)
    assert not Action.objects.exists() and Marker.objects.get().closed_at is None


def test_a_scope_names_what_is_taken_and_counts_what_is_bought(group: Group, now: datetime) -> None:
    builders.make_job(now, "a job")
    assert preview(changes.limits("g", {"max_slices": 3, "buffer_slices": 2})).scope == ("g=+2",)
    assert preview(changes.paused("g", now)).scope == ("demo:a%20job",)
