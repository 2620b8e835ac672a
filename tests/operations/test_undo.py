"""Taking an act back: by an act of its own, while what it set still stands; else it says what stands now."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Deployment, Group, Installation, Platform, QuotaPool, Scaler
from scaling.operations import OperationRefused, ends
from scaling.operations.ends import Ended, direction_of, end_of, ended
from scaling.operations.undo import is_still_undoable, is_undoable, undo_of
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_deployment, tick
from tests.operations.support import last_action

pytestmark = pytest.mark.django_db
ADA, BO = Actor.user("ada"), Actor.user("bo")


@pytest.fixture
def now(frozen_clock: FrozenClock) -> datetime:
    return frozen_clock()


@pytest.fixture
def group(now: datetime) -> Group:
    """A group `g` in pool `p`, with a slice `s`, a marker and a deployment `chat` beside it."""
    builders.make_installation()
    pool = QuotaPool.objects.create(name="p", limit=64)
    made = builders.make_group("g", quota_pool=pool, price_per_slice_hour="1.5")
    builders.make_slice(made, now, name="s")
    builders.make_marker(made, now)
    tick(make_deployment("chat", now), now, Scene(healthy=4))
    return made


def soon(now: datetime) -> datetime:
    return now + timedelta(hours=1)


# By name: the act (or two of them), and the kind of the act that takes the last one back.
ACTS: dict[str, tuple[Callable[[datetime], object], str]] = {
    "limits": (lambda _: operations.set_group_limits(ADA, "g", 1, {"max_slices": 12, "idle_threshold_seconds": 60}),
               "set_limits"),
    "pool and price": (
        lambda _: operations.set_group_limits(ADA, "g", 1, {"quota_pool": "", "price_per_slice_hour": None}),
        "set_limits",
    ),
    "drain": (lambda now: operations.drain_group(ADA, "g", "rack", soon(now)), "undrain"),
    "pause": (lambda now: operations.pause_group(ADA, "g", "rack", soon(now)), "resume"),
    "slice": (lambda _: operations.drain_slice(ADA, "s", "disk"), "undrain"),
    "quota": (lambda _: operations.set_quota_pool(ADA, "p", 1, {"limit": 8}), "set_quota"),
    "mode": (lambda _: operations.set_platform_mode(ADA, "simulated", "observe"), "set_platform_mode"),
    "halt": (lambda _: operations.halt(ADA, "bill"), "unhalt"),
    "acknowledge": (
        lambda _: operations.acknowledge_marker(ADA, Group.objects.get().markers.get().pk, "known"), "unacknowledge",
    ),
    "targets": (lambda _: operations.edit_deployment(ADA, "chat", 1, {"target_rps": 50}), "set_targets"),
    "pause of a deployment": (lambda now: operations.pause_deployment(ADA, "chat", "up", soon(now)), "resume"),
    "hold at zero": (lambda _: operations.scale_deployment(ADA, "chat", 0), "wake"),
}  # fmt: skip

_STAMPS = (
    "version",
    "updated_at",
    "memory_version",
    "wanted_replicas",
    "wanted_until",
    "wanted_by",
    "wanted_action_id",
)


def everything() -> list[dict[str, Any]]:
    """All that acts may set, without the stamps that any act moves, and without who ordered it."""
    group, scalers = Group.objects.get(), list(Scaler.objects.select_related("deployment"))
    stored = [group, group.slices.get(), group.markers.get(), group.platform, QuotaPool.objects.get()]
    rows = [*stored, Installation.objects.get(), *scalers, *(one.deployment for one in scalers)]
    return [{k: v for k, v in vars(row).items() if k not in _STAMPS and not k.startswith("_")} for row in rows]


@pytest.mark.parametrize("name", ACTS)
def test_what_was_done_is_taken_back_by_an_act_of_its_own(name: str, group: Group, now: datetime) -> None:
    before = everything()
    act, kind = ACTS[name]
    act(now)
    done = last_action()
    assert everything() != before and is_undoable(done)
    undo_of(done).perform(BO)
    assert everything() == before
    undone = last_action()
    assert (undone.kind, undone.actor, undone.reason) == (kind, "bo", f"takes back action {done.pk}")
    assert Action.objects.count() == 2
    with pytest.raises(OperationRefused):
        undo_of(done).perform(BO)
    assert Action.objects.count() == 2, "once only"


def test_what_somebody_changed_since_is_not_overwritten(group: Group) -> None:
    operations.set_group_limits(ADA, "g", 1, {"max_slices": 12})
    done = last_action()
    operations.set_group_limits(BO, "g", 2, {"max_slices": 20})
    with pytest.raises(OperationRefused) as refused:
        undo_of(done).perform(ADA)
    text = str(refused.value)
    assert text == "group g has moved on since: bo changed Max slices from 12 to 20, just now"
    assert Group.objects.get().max_slices == 20


def test_what_somebody_changed_beside_it_stays(group: Group) -> None:
    operations.set_group_limits(ADA, "g", 1, {"max_slices": 12})
    done = last_action()
    operations.set_group_limits(BO, "g", 2, {"min_slices": 3})
    undo_of(done).perform(ADA)
    group.refresh_from_db()
    assert (group.min_slices, group.max_slices) == (3, 8)


def test_another_drain_is_not_ended_by_undoing_the_first(group: Group, frozen_clock: FrozenClock) -> None:
    operations.drain_group(ADA, "g")
    done = last_action()
    operations.undrain_group(BO, "g")
    frozen_clock.advance(60)
    operations.drain_group(BO, "g", "the second")
    with pytest.raises(OperationRefused, match=r"it was taken back already by bo, 1 min ago \(action \d+\)"):
        undo_of(done).perform(ADA)


def test_a_new_deadline_is_taken_back_to_the_old_one(group: Group, now: datetime) -> None:
    operations.drain_group(ADA, "g", "rack", soon(now))
    operations.drain_group(ADA, "g", "rack", soon(now) + timedelta(hours=1))
    undo_of(last_action()).perform(ADA)
    group.refresh_from_db()
    assert group.drain_since is not None and group.drain_deadline == soon(now)


def test_a_resumed_pause_is_paused_again_to_its_old_end(group: Group, now: datetime) -> None:
    operations.pause_group(ADA, "g", "rack", soon(now))
    operations.resume_group(ADA, "g")
    undo_of(last_action()).perform(ADA)
    group.refresh_from_db()
    assert group.pause_until == soon(now)


@pytest.mark.parametrize("name", ["pause", "pause of a deployment", "acknowledge"])
def test_an_order_that_ended_by_itself_is_over(
    name: str, group: Group, now: datetime, frozen_clock: FrozenClock
) -> None:
    acts: dict[str, Callable[[], object]] = {
        "pause": lambda: operations.pause_group(ADA, "g", "rack", soon(now)),
        "pause of a deployment": lambda: operations.pause_deployment(ADA, "chat", "up", soon(now), "rack"),
        "acknowledge": lambda: operations.acknowledge_marker(ADA, group.markers.get().pk, "known", soon(now)),
    }
    acts[name]()
    done = last_action()
    assert end_of(done) == soon(now) and ended(done, frozen_clock()) is None and is_still_undoable(done)
    frozen_clock.advance(3600)
    assert ended(done, frozen_clock()) == Ended(soon(now), "ended by itself") and not is_still_undoable(done)
    with pytest.raises(OperationRefused, match=r"^it ended by itself at 2026-01-01 13:00:00Z$"):
        undo_of(done).perform(BO)


def test_of_an_end_behind_too_many_later_orders_nothing_is_said(
    group: Group, now: datetime, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    builders.make_group("busy")
    first, second = now + timedelta(minutes=1), now + timedelta(minutes=2)
    builders.make_action("pause", now, group="g", after={"pause_until": soon(now).isoformat()})
    for at in (first, second):
        builders.make_action("pause", at, group="busy", after={"pause_until": soon(at).isoformat()})
    builders.make_action("pause", now + timedelta(minutes=3), group="g", after={"pause_until": None})
    of_g, *_, last = Action.objects.order_by("pk")
    frozen_clock.advance(3 * 3600)
    monkeypatch.setattr(ends, "_MOST_LATER", 2)
    told = ends.ended_of(Action.objects.all(), frozen_clock())
    assert not {of_g.pk, last.pk} & told.keys() and set(told.values()) <= {Ended(soon(second), "ended by itself")}


def test_a_pause_over_one_that_ran_out_begins_anew_and_is_taken_back_to_none(
    group: Group, now: datetime, frozen_clock: FrozenClock
) -> None:
    operations.pause_group(ADA, "g", "rack", soon(now))
    operations.pause_deployment(ADA, "chat", "up", soon(now), "rack")
    frozen_clock.advance(7200)
    for again in (lambda: operations.pause_group(BO, "g"), lambda: operations.pause_deployment(BO, "chat", "up")):
        again()
        done = last_action()
        assert done.before == {**(done.before or {}), "pause_since": None, "pause_until": None} and end_of(done) is None
        undo_of(done).perform(ADA)
        assert last_action().kind == "resume"
    group.refresh_from_db()
    assert (group.pause_since, group.pause_reason) == (None, "")


def test_a_moved_end_is_the_end_that_counts(group: Group, now: datetime, frozen_clock: FrozenClock) -> None:
    operations.pause_deployment(ADA, "chat", "up", soon(now), "rack")
    first = last_action()
    operations.pause_deployment(BO, "chat", "down", soon(now), "rack")
    assert direction_of(last_action()) == "removing only" and end_of(last_action()) == soon(now)
    operations.pause_deployment(BO, "chat", "down", soon(soon(now)), "rack")
    frozen_clock.advance(3600)
    assert ended(first, frozen_clock()) is None and not is_still_undoable(first), "another took its place"
    undo_of(last_action()).perform(ADA)
    assert last_action().kind == "resume", "the end that it had has passed"


def test_nothing_is_offered_that_would_be_refused(group: Group, now: datetime, frozen_clock: FrozenClock) -> None:
    marker = group.markers.get()
    operations.acknowledge_marker(ADA, marker.pk, "known")
    operations.clear_marker(BO, marker.pk)
    operations.drain_slice(ADA, "s")
    group.slices.update(state="TERMINATED")
    operations.pause_group(ADA, "g", "rack", soon(now))
    operations.resume_group(ADA, "g")
    operations.edit_deployment(ADA, "chat", 1, {"target_rps": 50})
    Deployment.objects.update(gone_at=now)
    frozen_clock.advance(3600)
    told = [undo_of(one).moved_on for one in Action.objects.order_by("id") if is_undoable(one)]
    assert told == [
        "it ended with what it was about at 2026-01-01 12:00:00Z",
        "slice s is TERMINATED: it is being released or gone",
        f"it was taken back already by ada, 1 h ago (action {Action.objects.get(kind='resume').pk})",
        "the pause that it ended would be over since 2026-01-01 13:00:00Z",
        "deployment chat is gone since 2026-01-01 12:00:00Z: the Gateway no longer lists it",
    ]


def test_what_has_no_way_back_says_so(group: Group, now: datetime) -> None:
    marker = group.markers.get()
    operations.hold_marker(ADA, marker.pk, now + timedelta(days=1))
    operations.clear_marker(ADA, marker.pk)
    operations.scale_deployment(ADA, "chat", 6)
    for action in Action.objects.all():
        assert not is_undoable(action)
        with pytest.raises(OperationRefused, match=r"can't be taken back"):
            undo_of(action)


def test_anothers_acknowledgement_is_not_given_again_in_their_name(group: Group) -> None:
    marker = group.markers.get()
    operations.acknowledge_marker(ADA, marker.pk, "mine")
    operations.acknowledge_marker(BO, marker.pk, "mine now", version=2)
    assert not is_undoable(last_action())


def test_a_slice_that_left_meanwhile_is_not_drained_back(group: Group) -> None:
    operations.drain_slice(ADA, "s")
    group.slices.update(state="TERMINATING")
    with pytest.raises(OperationRefused, match="s is TERMINATING"):
        undo_of(last_action()).perform(ADA)


def test_what_the_cycle_did_is_nothing_to_take_back(group: Group, now: datetime) -> None:
    assert not is_undoable(builders.make_action("scale_up", now, group="g", slice="s"))
    assert Platform.objects.get().mode == "act"
