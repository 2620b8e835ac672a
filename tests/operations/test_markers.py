"""Acknowledging, clearing and holding a marker."""

from datetime import timedelta

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import ActorKind, Marker, Source
from scaling.testing.builders import make_group, make_marker
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


@pytest.fixture
def marker(frozen_clock: FrozenClock) -> Marker:
    """A stock-out of group `g` until 12:14."""
    return make_marker(make_group("g"), frozen_clock())


def test_an_acknowledgement_says_who_when_why_and_until_when(
    actor: Actor, marker: Marker, frozen_clock: FrozenClock
) -> None:
    until = frozen_clock() + timedelta(hours=4)
    operations.acknowledge_marker(actor, marker.pk, "  the vendor knows  ", until, version=1)
    marker.refresh_from_db()
    assert (marker.acknowledged_at, marker.acknowledged_by, marker.acknowledged_note, marker.acknowledged_until) == (
        frozen_clock(),
        "ada",
        "the vendor knows",
        until,
    )
    assert marker.version == 2
    action = last_action()
    assert (action.kind, action.group, action.target) == ("acknowledge", "g", f"marker {marker.pk}")
    assert action.reason == "the vendor knows"
    assert {"markers", "group:g", "overview"} <= topics()


@pytest.mark.parametrize("note", ["", "   ", "x" * 1001])
def test_an_acknowledgement_needs_a_note_of_sane_length(actor: Actor, marker: Marker, note: str) -> None:
    with pytest.raises(operations.InvalidRequest, match=r"^note: expected"):
        operations.acknowledge_marker(actor, marker.pk, note)
    assert nothing_happened()


def test_acknowledging_again_replaces_note_and_name(actor: Actor, marker: Marker) -> None:
    operations.acknowledge_marker(Actor.user("ben"), marker.pk, "looking")
    operations.acknowledge_marker(actor, marker.pk, "the vendor knows", version=2)
    marker.refresh_from_db()
    assert (marker.acknowledged_by, marker.acknowledged_note) == ("ada", "the vendor knows")
    before = last_action().before
    assert before is not None
    assert before["acknowledged_note"] == "looking"


def test_acknowledging_the_same_again_is_refused(actor: Actor, marker: Marker) -> None:
    operations.acknowledge_marker(actor, marker.pk, "looking")
    with pytest.raises(operations.OperationRefused, match="acknowledged with this note already"):
        operations.acknowledge_marker(actor, marker.pk, "looking")


def test_the_second_of_two_who_acknowledge_is_told(actor: Actor, marker: Marker) -> None:
    operations.acknowledge_marker(Actor.user("ben"), marker.pk, "looking", version=1)
    with pytest.raises(operations.StaleVersion, match="ben acknowledged it just now: looking"):
        operations.acknowledge_marker(actor, marker.pk, "me too", version=1)


def test_an_acknowledgement_of_another_is_not_taken_over_unseen(
    actor: Actor, marker: Marker, frozen_clock: FrozenClock
) -> None:
    until = frozen_clock() + timedelta(hours=1)
    operations.acknowledge_marker(Actor.user("ben"), marker.pk, "looking", until)
    sentence = "the stockout of g is acknowledged already, by ben at 2026-01-01 12:00:00Z: looking"
    for other in (actor, Actor(ActorKind.TOKEN, "ben", Source.API)):
        with pytest.raises(operations.StaleVersion, match=sentence):
            operations.acknowledge_marker(other, marker.pk, "me too")
    operations.acknowledge_marker(Actor.user("ben"), marker.pk, "still looking", until)
    frozen_clock.advance(3601)
    operations.acknowledge_marker(actor, marker.pk, "his time is over")
    assert last_action().reason == "his time is over"


def test_a_cleared_marker_is_closed_with_who_and_why(actor: Actor, marker: Marker, frozen_clock: FrozenClock) -> None:
    operations.clear_marker(actor, marker.pk, "capacity is back")
    marker.refresh_from_db()
    assert (marker.closed_at, marker.closed_by, marker.closed_reason) == (frozen_clock(), "ada", "capacity is back")
    assert last_action().kind == "marker_cleared"


def test_a_closed_marker_takes_no_act(actor: Actor, marker: Marker, frozen_clock: FrozenClock) -> None:
    operations.clear_marker(actor, marker.pk)
    later = frozen_clock() + timedelta(hours=2)
    sentence = f"marker {marker.pk} was closed at 2026-01-01 12:00:00Z by ada"
    with pytest.raises(operations.OperationRefused, match=sentence):
        operations.clear_marker(actor, marker.pk)
    with pytest.raises(operations.OperationRefused, match=sentence):
        operations.acknowledge_marker(actor, marker.pk, "late")
    with pytest.raises(operations.OperationRefused, match=sentence):
        operations.hold_marker(actor, marker.pk, later)


def test_a_marker_is_held_longer(actor: Actor, marker: Marker, frozen_clock: FrozenClock) -> None:
    before = marker.until
    until = frozen_clock() + timedelta(hours=3)
    operations.hold_marker(actor, marker.pk, until, "vendor maintenance")
    marker.refresh_from_db()
    assert marker.until == until
    action = last_action()
    assert before is not None
    assert (action.kind, action.before, action.after) == (
        "hold",
        {"until": before.isoformat()},
        {"until": until.isoformat()},
    )


def test_a_hold_that_is_no_longer_is_refused(actor: Actor, marker: Marker, frozen_clock: FrozenClock) -> None:
    sooner = frozen_clock() + timedelta(minutes=1)
    with pytest.raises(operations.OperationRefused, match=r"^until: expected a time after the present end, 2026-01-01"):
        operations.hold_marker(actor, marker.pk, sooner)
    with pytest.raises(operations.OperationRefused, match=r"^until: expected a time such as .* got null"):
        operations.hold_marker(actor, marker.pk, None)
    assert nothing_happened()


def test_a_permanent_marker_has_no_end_to_move(actor: Actor, frozen_clock: FrozenClock) -> None:
    permanent = make_marker(make_group("p"), frozen_clock(), "permanent")
    with pytest.raises(operations.OperationRefused, match="permanent: it has no end to move"):
        operations.hold_marker(actor, permanent.pk, frozen_clock() + timedelta(hours=1))


def test_a_marker_that_ran_out_can_still_be_held(actor: Actor, marker: Marker, frozen_clock: FrozenClock) -> None:
    now = frozen_clock.advance(3600)
    assert operations.hold_marker(actor, marker.pk, now + timedelta(minutes=5)).until == now + timedelta(minutes=5)


@pytest.mark.parametrize("number", [999_999, 2**70])
def test_a_marker_that_is_not_there_is_said(actor: Actor, number: int) -> None:
    with pytest.raises(operations.NotFound, match=f"there is no marker {number}"):
        operations.clear_marker(actor, number)
