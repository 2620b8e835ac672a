"""One group: what is it doing, and why not more?"""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.pages.group_checks import check_rows
from scaling import clock, operations
from scaling.autoscaler.evaluation import CHAIN
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Group, GroupStatus, QuotaPool
from scaling.testing import builders
from tests.pages.conftest import Get

PATH = "/groups/tpu-v5-8/"


def test_an_unknown_group_is_a_404_that_says_so(group: Group, see: Get) -> None:
    assert "There is no group nope." in see("/groups/nope/", status=404)


def test_the_waterfall_has_every_check_of_the_planner_in_its_order(
    group: Group, sign_in: Callable[[str], Client]
) -> None:
    page = sign_in("viewer").get(PATH).content.decode()
    assert re.findall(r'id="check-([A-Z_]+)"', page) == [*(outcome.value for outcome, _ in CHAIN), "AVAILABLE"]


def test_the_first_failing_check_is_marked_and_explained(
    group: Group, now: datetime, sign_in: Callable[[str], Client]
) -> None:
    status = builders.make_status(group, now, "CAPACITY_EXCEEDED", "8 of at most 8 slices", also=["STOCKOUT"])
    rows = {row.outcome: row for row in check_rows(status)}
    assert rows["CAPACITY_EXCEEDED"].verdict == "first" and rows["CAPACITY_EXCEEDED"].detail == "8 of at most 8 slices"
    assert rows["STOCKOUT"].verdict == "also" and rows["PAUSED"].verdict == "passed"
    page = sign_in("viewer").get(PATH).content.decode()
    assert page.count('class="check first"') == 1 and "8 of at most 8 slices" in page
    assert "Why it does not grow" in page and "not reached: no new slices" in page


def test_a_check_does_not_claim_what_is_not_there(group: Group, now: datetime) -> None:
    def said(**fields: object) -> list[str]:
        Group.objects.filter(pk=group.pk).update(**fields)
        rows = check_rows(GroupStatus.objects.get(group=group))
        return [row.meaning for row in rows if row.outcome in ("QUOTA_EXCEEDED", "TIER_BLOCKED")]

    assert said() == ["it has no pool", "it has no pool"]
    pool = QuotaPool.objects.create(name="v5/east")
    assert said(quota_pool=pool) == ["its pool has no limit", "it has no tier in its pool"]
    QuotaPool.objects.update(limit=64)
    assert said(allocation_tier=1) == ["its pool can pay one more slice", "no tier of its pool closes it"]


def test_an_open_group_says_it_may_grow(group: Group, see: Get) -> None:
    text = see(PATH)
    assert "Why it may grow" in text and "new slices may be bought" in text and "its platform answers" in text


def test_a_blocked_group_says_how_many_jobs_wait_for_it(group: Group, now: datetime, see: Get) -> None:
    waiting = {"waiting_jobs": 2, "waiting_tasks": 5, "waiting_alone": 1}
    builders.make_status(group, now, "CAPACITY_EXCEEDED", "8 of at most 8 slices", **waiting)
    assert "The last cycle routed no waiting task to it; 2 jobs wait for it or another, 1 for it alone." in see(PATH)
    assert "2 jobs wait for it or another, 1 for it alone" in see("/groups/")
    builders.make_status(group, now)
    assert "The last cycle routed no waiting task to it. " in see(PATH)


def test_a_group_no_cycle_has_seen_waits_for_one(group: Group, see: Get) -> None:
    builders.make_group("fresh")
    assert "Waiting for its first cycle" in see("/groups/fresh/")


def test_limits_demand_and_quota_are_told(group: Group, now: datetime, see: Get) -> None:
    pool = QuotaPool.objects.create(name="v5p/east", limit=512, learned_limit=128, learned_at=builders.before(now, 60))
    Group.objects.update(min_slices=1, buffer_slices=2, quota_pool=pool, allocation_tier=3, price_per_slice_hour="12.5")
    builders.make_status(group, now, assigned=12, deficit=2, scale_up=2, target=3, quota_remaining=64)
    builders.make_slice(group, now)
    builders.make_slice(group, now, "BOOTING")
    text = see(PATH)
    assert "2 of max 8" in text and "1 1 booting" in text and "1, 2, 8" in text
    assert (
        "v5p/east tier 3" in text and "64 of 128 devices" in text and "128 learned from the platform 1 min ago" in text
    )
    assert "The last cycle routed 12 waiting tasks to it and it is 2 slices short of that" in text
    assert "5 min 10 min while draining" in text and "12.50 USD" in text


def test_slices_say_why_they_are_not_released(group: Group, now: datetime, see: Get) -> None:
    busy = builders.make_slice(group, now, idle=None, name="busy-1")
    job = builders.make_job(now, "train", state="running", running_tasks=1, pending_tasks=0)
    builders.make_task(job, busy.workers.get(), now)
    builders.make_slice(group, now, idle=100, name="idle-1")
    builders.make_slice(group, now, "BOOTING", name="boot-1", requested_at=builders.before(now, 60))
    text = see(PATH)
    assert "busy-1 in use 1 of 1 ready 1 task of 1 job in use: 1 task on 1 of 1 worker" in text
    assert "idle-1 idle 1 of 1 ready idle; may go in 3 min 20 s idle for 1 min 40 s" in text
    assert "boot-1 booting 0 of 1 ready counts as failed in 14 min" in text


def test_a_drained_and_paused_group_says_by_whom_and_until_when(
    group: Group, still: FrozenClock, now: datetime, see: Get
) -> None:
    operations.drain_group(Actor.user("ana"), group.name, "rack 4", builders.after(now, 660))
    still.advance(30)
    operations.pause_group(Actor.user("bo"), group.name, until=builders.after(now, 150))
    still.advance(30)
    text = see(PATH, "operator")
    assert "Draining for 1 min, ordered by ana: rack 4. What is still busy ends in 10 min" in text
    assert "Paused for 30 s, ordered by bo. Ends in 1 min 30 s" in text
    assert "Undrain" in text and "Resume" in text
    # The last cycle is older than the orders and found it available; every page, filter and count knows better.
    for address in ("/groups/", "/groups/?outcome=DRAINING", "/groups/?outcome=blocked"):
        assert "tpu-v5-8" in see(address) and "draining" in see(address)
    assert "tpu-v5-8" not in see("/groups/?outcome=AVAILABLE") and "1 draining" in see("/")
    assert "tpu-v5-8 draining" in text and "tpu-v5-8 available" not in text
    assert "DRAINING blocks" in text and "draining, ordered by ana" in text and "nobody drains it" not in text
    assert "Why it does not grow" in text and "PAUSED blocks too" in text and "paused by bo" in text


def test_a_pause_that_has_ended_is_not_shown(group: Group, still: FrozenClock, now: datetime, see: Get) -> None:
    Group.objects.update(pause_since=now, pause_by="bo", pause_until=builders.after(now, 90))
    still.advance(90)
    assert "Paused for" not in see(PATH, "operator")


def test_markers_show_the_platforms_words_and_what_became_of_earlier_ones(
    group: Group, now: datetime, see: Get
) -> None:
    builders.make_marker(group, now, message="no more v5p in us-east5-a", failures=3)
    builders.make_marker(
        group, now, "quota", closed_at=builders.before(now, 20), closed_by="ana", closed_reason="raised it"
    )
    text = see(PATH, "operator")
    assert "no more v5p in us-east5-a" in text and "3 failures" in text and "not acknowledged" in text
    assert "Clear and retry" in text and "Hold longer" in text
    assert "quota 1 failure 20 s ago raised it · ana" in text


def test_only_its_own_actions_are_listed(group: Group, now: datetime, see: Get) -> None:
    builders.make_action("scale_up", now, group=group.name, slice="mine-1", reason="deficit 1")
    builders.make_action("scale_up", now, group="other", slice="theirs-1")
    text = see(PATH)
    assert "mine-1 · deficit 1" in text and "theirs-1" not in text


def test_many_slices_come_in_pages(group: Group, now: datetime, sign_in: Callable[[str], Client]) -> None:
    for number in range(102):
        builders.make_slice(group, now, name=f"s-{number:03d}", idle=200 - number)
    client = sign_in("viewer")
    first, second = (client.get(f"{PATH}{query}").content.decode() for query in ("", "?page=2"))
    assert len(re.findall(r'<tr id="slice-', first)) == 100
    assert re.findall(r'<tr id="slice-([^"]+)"', second) == ["s-100", "s-101"], "the longest idle come first"


@pytest.mark.parametrize("size", [1, 12])
def test_the_page_costs_the_same_queries_for_any_number_of_slices(
    size: int,
    group: Group,
    now: datetime,
    sign_in: Callable[[str], Client],
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    for _ in range(size):
        builders.make_slice(group, now)
        builders.make_action("scale_up", now, group=group.name)
    client = sign_in("viewer")
    with django_assert_max_num_queries(27):  # type: ignore[attr-defined]
        client.get(PATH)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"device_type": "cpu", "device_variant": "", "devices_per_worker": 0}, "One slice 1 worker One worker"),
        ({"device_type": "cpu", "device_variant": "", "devices_per_worker": 1}, "One slice 1 worker One worker"),
        ({"devices_per_worker": 4, "workers_per_slice": 2}, "One slice 8 chips on 2 workers One worker"),
    ],
)
def test_a_slice_is_told_in_devices_and_workers_once(fields: dict[str, object], words: str, db: None, see: Get) -> None:
    builders.make_installation()
    builders.make_group("g", **fields)
    assert words in see("/groups/g/")


def test_what_is_not_there_yet_is_not_counted_in_noughts(group: Group, now: datetime, see: Get) -> None:
    builders.make_slice(group, now, "BOOTING", name="s-1").workers.all().delete()
    text = see("/groups/tpu-v5-8/")
    assert "s-1 booting not up yet" in text and "0 of 0" not in text
    assert "asked for 0 slices" not in text and "released 0" not in text


def test_an_order_is_said_to_take_effect_at_the_next_cycle_until_that_has_run(
    group: Group, see: Get, still: FrozenClock
) -> None:
    Group.objects.update(updated_at=clock.now())
    assert "Takes effect at the next cycle" not in see("/groups/tpu-v5-8/")
    still.advance(5)
    operations.drain_group(Actor.user("bo"), group.name)
    text = see("/groups/tpu-v5-8/")
    assert "Takes effect at the next cycle: it was changed" in text and "before the latest change" in text
    still.advance(5)
    builders.make_status(group, clock.now(), "DRAINING")
    assert "Takes effect at the next cycle" not in see("/groups/tpu-v5-8/")
