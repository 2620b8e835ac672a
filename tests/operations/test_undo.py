"""Taking an act back: by an act of its own, while what it set still stands; else it says what stands now."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Group, Installation, Platform, QuotaPool, Scaler
from scaling.operations import OperationRefused
from scaling.operations.undo import is_undoable, undo_of
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
    with pytest.raises(OperationRefused, match=r"bo has taken it back already, 1 min ago \(action \d+\)"):
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
