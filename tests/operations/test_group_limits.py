"""Editing a group's limits: checked by one table, told as an Action, never over somebody else's edit."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling import clock, operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Group, Marker, QuotaPool
from scaling.testing.builders import make_group, make_marker
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


def test_an_edit_is_stored_with_a_new_version(actor: Actor) -> None:
    make_group("g", max_slices=8)
    group = operations.set_group_limits(actor, "g", 1, {"max_slices": 12, "priority": 50}, "demand grows")
    stored = Group.objects.get(name="g")
    assert (
        (stored.max_slices, stored.priority, stored.version)
        == (12, 50, 2)
        == (
            group.max_slices,
            group.priority,
            group.version,
        )
    )


def test_an_edit_is_an_action_with_only_what_changed(actor: Actor) -> None:
    make_group("g", max_slices=8, priority=100)
    operations.set_group_limits(actor, "g", 1, {"max_slices": 12, "priority": 100}, "demand grows")
    action = last_action()
    assert (action.kind, action.group, action.actor, action.reason) == ("set_limits", "g", "ada", "demand grows")
    assert (action.before, action.after) == ({"max_slices": 8}, {"max_slices": 12})
    assert {"group:g", "overview"} <= topics()


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"max_slices": 2}, "max_slices", "max_slices: expected at least min_slices (4), got 2"),
        ({"min_slices": 9}, "min_slices", "min_slices: expected at most max_slices (8), got 9"),
        ({"min_slices": 6, "max_slices": 5}, "max_slices", "max_slices: expected at least min_slices (6), got 5"),
        ({"max_slices": -1}, "max_slices", "max_slices: expected a whole number of at least 0, got -1"),
        ({"max_slices": 2.5}, "max_slices", "max_slices: expected a whole number of at least 0, got 2.5"),
        ({"max_slices": "12"}, "max_slices", 'max_slices: expected a whole number of at least 0, got "12"'),
        ({"max_slices": True}, "max_slices", "max_slices: expected a whole number of at least 0, got true"),
        ({"max_slices": None}, "max_slices", "max_slices: expected a whole number of at least 0, got null"),
        ({"max_slices": 10**12}, "max_slices", "max_slices: expected a whole number of at most 1,000,000, got 1"),
        ({"max_slice": 3}, "max_slice", 'max_slice: unknown field; did you mean "max_slices"?'),
        ({"zzz": 3}, "zzz", "zzz: unknown field"),
        ({"max": 5}, "max", 'max: unknown field; did you mean "max_slices"?'),
        ({"tier": 5}, "tier", 'tier: unknown field; did you mean "allocation_tier"?'),
        ({"scale": 5}, "scale", 'scale: unknown field; did you mean "scale_up_rate" or "scale_down_rate"?'),
        ({"device_type": "gpu"}, "device_type", "device_type: unknown field"),
        ({"scale_up_rate": -0.5}, "scale_up_rate", "scale_up_rate: expected a number of at least 0, got -0.5"),
        ({"scale_up_rate": float("nan")}, "scale_up_rate", "scale_up_rate: expected a number of at least 0, got NaN"),
        (
            {"idle_threshold_seconds": float("inf")},
            "idle_threshold_seconds",
            "idle_threshold_seconds: expected a number of at most 31,536,000, got Infinity",
        ),
        (
            {"provision_timeout_seconds": 0},
            "provision_timeout_seconds",
            "provision_timeout_seconds: expected a number of at least 1, got 0",
        ),
        (
            {"quota_pool": "poole"},
            "quota_pool",
            'quota_pool: expected the name of a quota pool; there is no quota pool "poole"; did you mean "pool"?',
        ),
        ({"attributes": ["a"]}, "attributes", "attributes: expected an object of names and values, got a list"),
        ({"attributes": {"a": {}}}, "attributes", 'attributes: expected text, a number or true/false for "a", got an'),
    ],
)
def test_a_wrong_limit_is_one_sentence_and_changes_nothing(
    actor: Actor, changes: dict[str, Any], field: str, sentence: str
) -> None:
    QuotaPool.objects.create(name="pool")
    make_group("g", min_slices=4, max_slices=8)
    with pytest.raises(operations.OperationRefused) as refused:
        operations.set_group_limits(actor, "g", 1, changes)
    assert str(refused.value).startswith(sentence)
    assert refused.value.field == field
    assert Group.objects.get(name="g").version == 1
    assert nothing_happened()


def test_every_fault_of_an_edit_is_told_at_once(actor: Actor) -> None:
    make_group("g")
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.set_group_limits(actor, "g", 1, {"max_slices": -1, "priority": "high", "colour": 1})
    assert [fault.path for fault in refused.value.faults] == ["max_slices", "priority", "colour"]
    assert str(refused.value).endswith("(and 2 more)")


def test_an_edit_that_changes_nothing_is_refused(actor: Actor) -> None:
    make_group("g", max_slices=8)
    with pytest.raises(operations.OperationRefused, match="nothing to change: group g has these values already"):
        operations.set_group_limits(actor, "g", 1, {"max_slices": 8})
    assert nothing_happened()


def test_the_second_of_two_editors_is_told_who_changed_what(actor: Actor, frozen_clock: FrozenClock) -> None:
    make_group("g", max_slices=8)
    operations.set_group_limits(Actor.user("ben"), "g", 1, {"max_slices": 12})
    with pytest.raises(operations.StaleVersion) as stale:
        operations.set_group_limits(actor, "g", 1, {"max_slices": 2})
    assert str(stale.value) == (
        "group g has changed since you looked at it: ben changed Max slices from 8 to 12, just now"
    )
    assert stale.value.current.version == 2  # type: ignore[attr-defined]
    assert Group.objects.get(name="g").max_slices == 12


def test_a_version_that_never_was_is_told_so_and_nobody_is_made_up_who_changed_it(actor: Actor) -> None:
    make_group("g", max_slices=8)
    with pytest.raises(operations.StaleVersion, match="group g is at version 1, not yet at 7; look"):
        operations.set_group_limits(actor, "g", 7, {"max_slices": 2})
    assert nothing_happened()


def test_a_drain_meanwhile_makes_an_edit_stale_too(actor: Actor) -> None:
    make_group("g")
    operations.drain_group(Actor.user("ben"), "g", "rack move")
    with pytest.raises(operations.StaleVersion, match="ben drained it just now: rack move"):
        operations.set_group_limits(actor, "g", 1, {"max_slices": 2})


@pytest.mark.parametrize("version", ["1", 1.0, True])
def test_a_version_that_is_no_whole_number_is_refused(actor: Actor, version: Any) -> None:
    make_group("g")
    with pytest.raises(operations.InvalidRequest, match="version: expected the whole number you were shown"):
        operations.set_group_limits(actor, "g", version, {"max_slices": 2})


def test_an_unknown_group_is_named_with_the_nearest_one(actor: Actor) -> None:
    make_group("tpu-v5-8")
    with pytest.raises(operations.NotFound, match=r'there is no group "tpu-v5-9"; did you mean "tpu-v5-8"\?'):
        operations.set_group_limits(actor, "tpu-v5-9", 1, {"max_slices": 2})


def test_an_edit_closes_the_permanent_marker_and_no_other(actor: Actor) -> None:
    group = make_group("g", max_slices=8)
    permanent = make_marker(group, clock.now(), "permanent")
    stockout = make_marker(group, clock.now(), "stockout")
    operations.set_group_limits(actor, "g", 1, {"max_slices": 9})
    permanent.refresh_from_db()
    assert (permanent.closed_by, permanent.closed_reason) == ("ada", "the group was edited")
    assert Marker.objects.get(pk=stockout.pk).closed_at is None
    cleared = last_action()
    assert (cleared.kind, cleared.reason) == ("marker_cleared", "the group was edited")
    assert cleared.cause is not None
    assert cleared.cause.kind == "set_limits"


def test_a_pool_is_given_by_name_and_taken_away_by_an_empty_one(actor: Actor) -> None:
    pool = QuotaPool.objects.create(name="v5e/us-west4-a")
    make_group("g")
    operations.set_group_limits(actor, "g", 1, {"quota_pool": pool.name, "allocation_tier": 2})
    assert Group.objects.get(name="g").quota_pool == pool
    assert last_action().after == {"quota_pool": "v5e/us-west4-a", "allocation_tier": 2}
    operations.set_group_limits(actor, "g", 2, {"quota_pool": "", "allocation_tier": None})
    assert Group.objects.get(name="g").quota_pool is None


def test_a_price_is_kept_exactly(actor: Actor) -> None:
    make_group("g")
    operations.set_group_limits(actor, "g", 1, {"price_per_slice_hour": 4.2})
    assert Group.objects.get(name="g").price_per_slice_hour == Decimal("4.2000")
    assert last_action().after == {"price_per_slice_hour": "4.2"}
    operations.set_group_limits(actor, "g", 2, {"price_per_slice_hour": 0.30000000000000004})
    assert Group.objects.get(name="g").price_per_slice_hour == Decimal("0.3")


@pytest.mark.parametrize("price", [0.0000001, 1e-13, 0.30001, 12345678.00001])
def test_a_price_that_could_not_be_kept_is_refused(actor: Actor, price: float) -> None:
    make_group("g")
    with pytest.raises(operations.InvalidRequest, match=r"^price_per_slice_hour: expected at most 4 decimals, got "):
        operations.set_group_limits(actor, "g", 1, {"price_per_slice_hour": price})


@pytest.mark.parametrize("reason", ["\r=1", "=1\t\r", "\x1c=1", "\v=1"])
def test_a_control_character_at_an_end_is_refused_like_any_other(actor: Actor, reason: str) -> None:
    make_group("g")
    with pytest.raises(operations.InvalidRequest, match=r"^reason: expected "):
        operations.set_group_limits(actor, "g", 1, {"max_slices": 9}, reason)


def test_a_new_group_is_checked_against_the_defaults() -> None:
    assert operations.read_group({"name": "g", "device_variant": "H100", "capacity_type": "on-demand"}) == {
        "name": "g",
        "device_variant": "h100",
        "capacity_type": "on_demand",
    }
    with pytest.raises(operations.InvalidRequest, match=r"min_slices: expected at most max_slices \(0\), got 1"):
        operations.read_group({"name": "g", "min_slices": 1})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*operations.GROUP_FIELDS, "other"]), _JSON, max_size=4))
def test_any_values_are_read_or_refused_in_sentences(values: dict[str, Any]) -> None:
    try:
        read = operations.read_group(values)
    except operations.InvalidRequest as refused:
        assert all(fault.path and "\n" not in str(fault) and len(str(fault)) < 250 for fault in refused.faults)
    else:
        assert set(read) == set(values)
        assert read.get("min_slices", 0) <= read.get("max_slices", 0)
