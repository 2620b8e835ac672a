"""Device-hours and money of what acts did, each moment of a slice once."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from scaling.audit.cost import cost_of
from scaling.models import Group, Slice
from scaling.testing import builders

pytestmark = pytest.mark.django_db


def hours_before(now: datetime, hours: float) -> datetime:
    return now - timedelta(hours=hours)


@pytest.fixture
def group(now: datetime) -> Group:
    """Slices of two workers with four chips each, at 10 an hour."""
    return builders.make_group("v5p", workers_per_slice=2, devices_per_worker=4, price_per_slice_hour=Decimal("10"))


def lived(group: Group, now: datetime, start: float, end: float | None, name: str) -> Slice:
    """A slice that was ready `start` hours ago and ended `end` hours ago, or lives."""
    ended = {"ended_at": hours_before(now, end), "state": "GONE"} if end is not None else {"state": "READY"}
    times = {"requested_at": hours_before(now, start + 0.5), "ready_at": hours_before(now, start)}
    return builders.make_slice(group, now, name=name, **(ended | times))


def test_an_act_about_a_slice_costs_its_life_from_ready_to_its_end(group: Group, now: datetime) -> None:
    lived(group, now, 5, 2, "s")
    up = builders.make_action("scale_up", hours_before(now, 5.5), group="v5p", slice="s")
    down = builders.make_action("scale_down", hours_before(now, 2), group="v5p", slice="s")
    for acts in ([up], [down], [up, down]):
        cost = cost_of(acts, now)
        assert cost is not None
        assert (cost.slices, cost.slice_hours, cost.device_hours, cost.money) == (1, 3, 24, Decimal(30))
        assert not cost.running


def test_a_slice_that_lives_costs_up_to_now(group: Group, now: datetime) -> None:
    lived(group, now, 4, None, "s")
    cost = cost_of([builders.make_action("scale_up", now, slice="s")], now)
    assert cost is not None and cost.slice_hours == 4 and cost.running


def test_a_drain_costs_what_its_slices_were_held_from_then_on(group: Group, now: datetime) -> None:
    lived(group, now, 10, 2, "released")
    lived(group, now, 10, None, "still-there")
    lived(group, now, 10, 7, "gone-before")
    lived(group, now, 1, None, "bought-later")
    lived(builders.make_group("other"), now, 10, None, "of-another-group")
    drain = builders.make_action("drain", hours_before(now, 6), group="v5p", actor_kind="user", actor="ana")
    cost = cost_of([drain], now)
    assert cost is not None and (cost.slices, cost.slice_hours) == (2, 4 + 6)
    builders.make_action("undrain", hours_before(now, 3), group="v5p")
    cost = cost_of([drain], now)
    assert cost is not None and (cost.slice_hours, cost.device_hours, cost.money) == (6, 48, Decimal(60))
    assert not cost.running


def test_a_drain_of_one_slice_is_ended_by_its_own_undrain_only(group: Group, now: datetime) -> None:
    lived(group, now, 10, None, "s")
    drain = builders.make_action("drain", hours_before(now, 6), group="v5p", slice="s")
    builders.make_action("undrain", hours_before(now, 5), group="v5p")
    builders.make_action("undrain", hours_before(now, 4), group="v5p", slice="other")
    cost = cost_of([drain], now)
    assert cost is not None and (cost.slices, cost.slice_hours) == (1, 6)


def test_acts_together_count_each_moment_once(group: Group, now: datetime) -> None:
    lived(group, now, 10, 1, "s")
    acts = [
        builders.make_action("drain", hours_before(now, 6), group="v5p"),
        builders.make_action("drain", hours_before(now, 5), group="v5p"),
        builders.make_action("scale_down", hours_before(now, 1), group="v5p", slice="s"),
    ]
    cost = cost_of(acts[:2], now)
    assert cost is not None and cost.slice_hours == 5
    cost = cost_of(acts, now)
    assert cost is not None and cost.slice_hours == 9


def test_what_cannot_be_counted_is_told(group: Group, now: datetime) -> None:
    lived(group, now, 2, 1, "priced")
    lived(builders.make_group("free", workers_per_slice=1), now, 2, 1, "unpriced")
    names = ("priced", "unpriced", "long-gone")
    cost = cost_of([builders.make_action("scale_up", now, slice=name) for name in names], now)
    assert cost is not None
    assert (cost.slices, cost.money, cost.unpriced, cost.unknown) == (2, Decimal(10), 1, 1)


def test_a_slice_that_was_never_ready_costs_nothing(group: Group, now: datetime) -> None:
    builders.make_slice(group, now, "FAILED", name="s", ended_at=now)
    cost = cost_of([builders.make_action("slice_failed", now, slice="s")], now)
    assert cost is not None and (cost.slices, cost.money) == (0, None)


def test_acts_about_no_slice_have_no_cost(now: datetime) -> None:
    assert cost_of([builders.make_action("set_limits", now, group="g")], now) is None
    assert cost_of([], now) is None
