"""Draining one slice, and taking it back."""

import pytest

from scaling import clock, operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Slice
from scaling.testing.builders import make_group, make_slice
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


def _slice(state: str = "READY") -> Slice:
    return make_slice(make_group("g"), clock.now(), state, name="s1")


def test_a_drained_slice_says_since_when_by_whom_and_why(actor: Actor, frozen_clock: FrozenClock) -> None:
    _slice()
    operations.drain_slice(actor, "s1", "bad disk")
    stored = Slice.objects.get(name="s1")
    assert (stored.state, stored.drain_since, stored.drain_by, stored.drain_reason) == (
        "READY",
        frozen_clock(),
        "ada",
        "bad disk",
    )
    action = last_action()
    assert (action.kind, action.group, action.slice, action.reason) == ("drain", "g", "s1", "bad disk")
    assert {"slice:s1", "group:g"} <= topics()


def test_a_drain_of_a_slice_is_taken_back(actor: Actor) -> None:
    _slice()
    operations.drain_slice(actor, "s1")
    operations.undrain_slice(actor, "s1")
    assert Slice.objects.get(name="s1").drain_since is None
    assert last_action().kind == "undrain"


def test_draining_a_slice_twice_is_refused(actor: Actor, frozen_clock: FrozenClock) -> None:
    _slice()
    operations.drain_slice(actor, "s1")
    with pytest.raises(operations.OperationRefused, match="s1 is draining already, since 2026-01-01 12:00:00Z by ada"):
        operations.drain_slice(actor, "s1")


def test_undraining_a_slice_that_is_not_draining_is_refused(actor: Actor) -> None:
    _slice()
    with pytest.raises(operations.OperationRefused, match="s1 is not draining"):
        operations.undrain_slice(actor, "s1")
    assert nothing_happened()


@pytest.mark.parametrize("state", ["DRAINING", "TERMINATING", "FAILED", "GONE"])
def test_a_slice_that_is_being_released_takes_no_order(actor: Actor, state: str) -> None:
    _slice(state)
    for act in (operations.drain_slice, operations.undrain_slice):
        with pytest.raises(operations.OperationRefused, match=f"s1 is {state}: it is being released or gone"):
            act(actor, "s1")
    assert nothing_happened()


def test_an_unknown_slice_is_said(actor: Actor) -> None:
    _slice()
    with pytest.raises(operations.NotFound, match='there is no slice "s2"'):
        operations.drain_slice(actor, "s2")
