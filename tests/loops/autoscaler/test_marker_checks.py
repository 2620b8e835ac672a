"""A group's record after its markers or orders changed between two cycles: what the next cycle finds, or less."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from scaling import operations
from scaling.history import Actor
from scaling.loops.autoscaler.store import store
from scaling.marker_checks import judge_again
from scaling.models import Cycle, Group, GroupStatus, Marker, QuotaPool
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, listed

ADA = Actor.user("ada")


def tiered(iris: ControlPlane, name: str, tier: int, **fields: Any) -> Group:
    pool = QuotaPool.objects.get_or_create(name="p", defaults={"limit": 8})[0]
    return builders.make_group(name, platform=iris.row, quota_pool=pool, allocation_tier=tier, **fields)


def failed(iris: ControlPlane, group: Group, kind: str, seconds: float = 900) -> Marker:
    return builders.make_marker(
        group, iris.clock(), kind=kind, until=iris.clock() + timedelta(seconds=seconds), message=f"no: {kind}"
    )


def told(group: Group) -> Mapping[str, Any]:
    """What markers change in the record of a group."""
    rows = GroupStatus.objects.values("outcome", "detail", "checks", "stockout_until", "backoff_expires_at")
    return rows.get(pk=group.pk)


@pytest.mark.parametrize(("other", "outcome"), [(None, "AVAILABLE"), (1, "TIER_BLOCKED")])
def test_a_cleared_marker_closes_no_tier_any_more_and_one_of_another_group_does(
    iris: ControlPlane, other: int | None, outcome: str
) -> None:
    group = tiered(iris, "g", 2)
    if other is not None:
        failed(iris, tiered(iris, "h", other), "stockout")
    marker = failed(iris, group, "stockout")
    iris.cycle()
    assert told(group)["outcome"] == "STOCKOUT"
    operations.clear_marker(ADA, marker.pk)
    at_once = told(group)
    assert at_once["outcome"] == outcome
    iris.cycle()
    assert told(group) == at_once


def test_an_exhausted_pool_is_told_in_its_own_words_once_the_quota_marker_is_cleared(iris: ControlPlane) -> None:
    group = tiered(iris, "g", 1)
    listed(iris, builders.make_slice(group, iris.clock(), idle=None))
    listed(iris, builders.make_slice(group, iris.clock(), idle=None))
    marker = failed(iris, group, "quota")
    iris.cycle()
    assert told(group)["detail"] == "no: quota"
    operations.clear_marker(ADA, marker.pk)
    assert told(group)["detail"] == "pool p has 0 left, one slice takes 4"
    at_once = told(group)
    iris.cycle()
    assert told(group) == at_once
    failed(iris, group, "quota")
    judge_again(group)
    assert told(group)["detail"] == "no: quota"


def test_a_probe_under_way_is_one_for_as_long_as_a_marker_is_open(iris: ControlPlane) -> None:
    group = builders.make_group("g", platform=iris.row, min_slices=1)
    later = iris.clock() + timedelta(minutes=1)
    builders.make_slice(group, iris.clock(), "REQUESTING", is_probe=True, attempts=1, next_attempt_at=later)
    first, second = failed(iris, group, "stockout", -1), failed(iris, group, "backoff", -1)
    iris.cycle()
    for marker, outcome in ((first, "PROBING"), (second, "AVAILABLE")):
        operations.clear_marker(ADA, marker.pk)
        assert told(group)["outcome"] == outcome


def test_a_marker_held_while_a_cycle_plans_is_not_told_with_its_old_end(
    iris: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = builders.make_group("g", platform=iris.row)
    marker = failed(iris, group, "stockout")
    iris.cycle()
    ends = [iris.clock() + timedelta(hours=2)]

    def held_meanwhile(*plan: Any) -> Cycle:
        if ends:
            operations.hold_marker(ADA, marker.pk, ends.pop())
        return store(*plan)

    monkeypatch.setattr("scaling.loops.autoscaler.cycle.store", held_meanwhile)
    iris.cycle()
    assert told(group)["stockout_until"] == iris.clock() + timedelta(hours=2)


def test_an_order_is_in_the_record_at_once_as_the_next_cycle_finds_it(iris: ControlPlane) -> None:
    group = builders.make_group("g", platform=iris.row)
    failed(iris, group, "stockout")
    iris.cycle()
    acts = (
        (lambda: operations.pause_group(ADA, "g", until=iris.clock() + timedelta(hours=1)), "PAUSED", "paused by ada"),
        (lambda: operations.drain_group(ADA, "g"), "DRAINING", "draining, ordered by ada"),
        (lambda: operations.resume_group(ADA, "g"), "DRAINING", "draining, ordered by ada"),
        (lambda: operations.undrain_group(ADA, "g"), "STOCKOUT", "no: stockout"),
    )
    for act, outcome, detail in acts:
        act()
        at_once = told(group)
        assert (at_once["outcome"], at_once["detail"]) == (outcome, detail)
        iris.cycle()
        assert told(group) == at_once


def test_a_pause_that_is_lifted_while_all_is_halted_leaves_the_halt_in_the_record(iris: ControlPlane) -> None:
    group = builders.make_group("g", platform=iris.row)
    operations.pause_group(ADA, "g")
    operations.halt(ADA, "the rack burns")
    iris.cycle()
    operations.resume_group(ADA, "g")
    at_once = told(group)
    assert at_once["outcome"] == "PAUSED"
    iris.cycle()
    assert told(group) == at_once
