"""Draining and pausing a group, and taking it back."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Group
from scaling.testing.builders import make_group, make_slice
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def group() -> Group:
    return make_group("g")


def test_a_drain_says_since_when_by_whom_why_and_until_when(actor: Actor, frozen_clock: FrozenClock) -> None:
    deadline = frozen_clock() + timedelta(hours=1)
    operations.drain_group(actor, "g", "rack move", deadline)
    stored = Group.objects.get(name="g")
    assert (stored.drain_since, stored.drain_by, stored.drain_reason, stored.drain_deadline, stored.version) == (
        frozen_clock(),
        "ada",
        "rack move",
        deadline,
        2,
    )
    action = last_action()
    assert (action.kind, action.group, action.reason) == ("drain", "g", "rack move")
    assert action.before == {"drain_since": None, "drain_by": "", "drain_reason": "", "drain_deadline": None}
    assert action.after is not None
    assert action.after["drain_deadline"] == deadline.isoformat()
    assert {"group:g", "overview"} <= topics()


def test_a_drain_leaves_slices_to_the_next_cycle(actor: Actor, group: Group, frozen_clock: FrozenClock) -> None:
    row = make_slice(group, frozen_clock(), "REQUESTING")
    operations.drain_group(actor, "g")
    row.refresh_from_db()
    assert row.state == "REQUESTING"


def test_draining_twice_is_refused_with_who_did_it_first(actor: Actor, frozen_clock: FrozenClock) -> None:
    operations.drain_group(Actor.user("ben"), "g")
    with pytest.raises(operations.OperationRefused, match="g is draining already, since 2026-01-01 12:00:00Z by ben"):
        operations.drain_group(actor, "g")


def test_a_draining_group_may_get_another_deadline(actor: Actor, frozen_clock: FrozenClock) -> None:
    operations.drain_group(actor, "g")
    since = frozen_clock()
    frozen_clock.advance(60)
    deadline = frozen_clock() + timedelta(hours=2)
    operations.drain_group(actor, "g", "sooner", deadline)
    stored = Group.objects.get(name="g")
    assert (stored.drain_since, stored.drain_deadline) == (since, deadline)


def test_an_undrain_takes_it_all_back(actor: Actor) -> None:
    operations.drain_group(actor, "g", "rack move")
    operations.undrain_group(actor, "g", "moved")
    stored = Group.objects.get(name="g")
    assert (stored.drain_since, stored.drain_by, stored.drain_reason, stored.drain_deadline) == (None, "", "", None)
    assert last_action().kind == "undrain"


def test_a_pause_holds_until_its_end(actor: Actor, frozen_clock: FrozenClock) -> None:
    until = frozen_clock() + timedelta(minutes=10)
    paused = operations.pause_group(actor, "g", "cost", until)
    assert operations.is_paused(paused, frozen_clock())
    assert not operations.is_paused(paused, until)
    assert last_action().kind == "pause"


def test_pausing_twice_is_refused_unless_the_end_changes(actor: Actor, frozen_clock: FrozenClock) -> None:
    operations.pause_group(actor, "g")
    with pytest.raises(operations.OperationRefused, match="g is paused already, by ada until further notice"):
        operations.pause_group(actor, "g")
    later = frozen_clock() + timedelta(hours=1)
    assert operations.pause_group(actor, "g", until=later).pause_until == later


def test_a_pause_that_ran_out_can_be_given_again(actor: Actor, frozen_clock: FrozenClock) -> None:
    operations.pause_group(actor, "g", until=frozen_clock() + timedelta(minutes=1))
    now = frozen_clock.advance(61)
    assert operations.pause_group(actor, "g").pause_since == now


def test_a_resume_ends_the_pause(actor: Actor) -> None:
    operations.pause_group(actor, "g")
    operations.resume_group(actor, "g")
    assert Group.objects.get(name="g").pause_since is None
    assert last_action().kind == "resume"


@pytest.mark.parametrize(
    ("act", "sentence"),
    [(operations.undrain_group, "g is not draining"), (operations.resume_group, "g is not paused")],
)
def test_taking_back_what_was_not_ordered_is_refused(
    actor: Actor, act: Callable[[Actor, str], Group], sentence: str
) -> None:
    with pytest.raises(operations.OperationRefused, match=sentence):
        act(actor, "g")
    assert nothing_happened()


@pytest.mark.parametrize(
    ("until", "sentence"),
    [
        ("2026-01-01T12:00:00Z", "expected a time in the future"),
        ("2025-12-31T12:00:00Z", "expected a time in the future"),
        ("2035-01-01T12:00:00Z", "expected a time within 366 days"),
        ("tomorrow", 'expected a time such as 2031-05-30T12:00:00Z or Unix seconds, got "tomorrow"'),
        (True, "expected a time such as"),
        (1e300, "expected a time such as"),
        ("0001-01-01T00:00:00+23:59", "expected a time such as"),
    ],
)
def test_an_end_must_be_a_time_ahead(actor: Actor, frozen_clock: FrozenClock, until: object, sentence: str) -> None:
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.pause_group(actor, "g", "cost", until)  # type: ignore[arg-type]
    assert str(refused.value).startswith(f"until: {sentence}")
    with pytest.raises(operations.InvalidRequest, match=f"^deadline: {sentence}"):
        operations.drain_group(actor, "g", "cost", until)  # type: ignore[arg-type]
    assert nothing_happened()


def test_times_may_be_iso_texts_or_unix_seconds(actor: Actor, frozen_clock: FrozenClock) -> None:
    expected = frozen_clock() + timedelta(hours=1)
    assert operations.pause_group(actor, "g", until="2026-01-01T14:00:00+01:00").pause_until == expected  # type: ignore[arg-type]
    operations.resume_group(actor, "g")
    assert operations.pause_group(actor, "g", until=expected.timestamp()).pause_until == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", ["x" * 501, "a\x00b", "half \ud800", 5])
def test_a_reason_that_cannot_be_kept_is_refused(actor: Actor, reason: object) -> None:
    with pytest.raises(operations.InvalidRequest, match=r"^reason: expected"):
        operations.drain_group(actor, "g", reason)  # type: ignore[arg-type]
    assert nothing_happened()


@pytest.mark.parametrize("act", ["drain_group", "undrain_group", "pause_group", "resume_group"])
def test_an_order_on_an_outdated_view_is_told(actor: Actor, act: str) -> None:
    operations.set_group_limits(Actor.user("ben"), "g", 1, {"max_slices": 3})
    with pytest.raises(operations.StaleVersion, match="ben changed Max slices"):
        getattr(operations, act)(actor, "g", version=1)
