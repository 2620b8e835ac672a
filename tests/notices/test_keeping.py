"""One look after the other: what is stored is told once, to the channels that want it."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scaling import clock, operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Event, Hint, Loop, Marker, Notice, NoticeChannel, NoticeDelivery, Platform
from scaling.testing import builders, sample_deployments
from tests.notices.conftest import Look, titles

pytestmark = pytest.mark.django_db


def close(marker: Marker) -> None:
    Marker.objects.filter(pk=marker.pk).update(closed_at=clock.now())


def test_a_stockout_is_told_once_and_when_it_is_over(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    marker = builders.make_marker(builders.make_group("v5-8"), now, kind="stockout", message="no capacity")
    for _ in range(5):
        look()
        frozen_clock.advance(5)
    assert titles() == ["Stock-out: v5-8"]
    close(marker)
    look()
    frozen_clock.advance(59)
    look()
    assert titles() == ["Stock-out: v5-8"]
    frozen_clock.advance(1)
    look()
    assert titles() == ["Stock-out: v5-8", "Over: Stock-out: v5-8"]
    assert not Notice.objects.filter(over_at=None).exists()


def test_a_look_that_changes_nothing_writes_nothing(channel: NoticeChannel, look: Look, now: datetime) -> None:
    builders.make_marker(builders.make_group("v5-8"), now, kind="stockout")
    assert look() > 0
    events = Event.objects.count()
    assert look() == 0
    assert Event.objects.count() == events


def test_each_message_has_one_id_for_all_channels_and_says_it(
    channel: NoticeChannel, look: Look, now: datetime
) -> None:
    NoticeChannel.objects.create(name="second", url="json://b/c")
    builders.make_marker(builders.make_group("v5-8"), now, kind="stockout")
    look()
    first, second = NoticeDelivery.objects.all()
    assert first.message == second.message == Notice.objects.get().message
    assert first.body.endswith(f"Iris notice {first.message}")


def test_a_channel_gets_only_what_it_wants(look: Look, now: datetime) -> None:
    NoticeChannel.objects.create(name="clouds", url="json://a", kinds=["platform_unreachable"], tell_over=False)
    NoticeChannel.objects.create(name="off", url="json://b", enabled=False)
    marker = builders.make_marker(builders.make_group("v5-8"), now, kind="stockout")
    look()
    assert titles() == []
    Platform.objects.update(unreachable_since=now, last_error="503")
    close(marker)
    look()
    assert titles() == [f"Platform unreachable: {Platform.objects.get().name}"]
    Platform.objects.update(unreachable_since=None)
    Notice.objects.update(absent_since=now - timedelta(hours=1))
    look()
    assert len(titles()) == 1


def test_many_at_once_are_one_message(channel: NoticeChannel, look: Look, now: datetime) -> None:
    for number in range(12):
        builders.make_marker(builders.make_group(f"g{number:02}"), now, kind="stockout")
    look()
    assert titles() == ["12 notices at once"]
    assert Notice.objects.exclude(told_at=None).count() == 12


def test_a_trickle_is_gathered_so_that_no_channel_is_flooded(
    channel: NoticeChannel, look: Look, frozen_clock: FrozenClock
) -> None:
    for number in range(24):
        builders.make_marker(builders.make_group(f"g{number:02}"), clock.now(), kind="stockout")
        look()
        frozen_clock.advance(5)
    assert 4 <= len(titles()) <= 10
    frozen_clock.advance(60)
    look()
    assert not Notice.objects.filter(told_at=None).exists()


def test_acknowledging_the_stockout_silences_it_until_it_is_over(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock, actor: Actor, settings: Any
) -> None:
    settings.IRIS_NOTICE_AGAIN_MINUTES = 1
    marker = builders.make_marker(builders.make_group("v5-8"), now, kind="stockout")
    look()
    frozen_clock.advance(61)
    look()
    operations.acknowledge_marker(actor, marker.pk, "asked for quota", until=clock.now() + timedelta(minutes=10))
    for _ in range(9):
        frozen_clock.advance(60)
        look()
    assert titles() == ["Stock-out: v5-8", "Still: Stock-out: v5-8"]
    frozen_clock.advance(61)
    look()
    assert titles()[2:] == ["Still: Stock-out: v5-8"]


def test_acknowledging_the_notice_silences_it_and_over_is_told_all_the_same(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock, actor: Actor, settings: Any
) -> None:
    settings.IRIS_NOTICE_AGAIN_MINUTES = 1
    builders.make_group("v5-8")
    Platform.objects.update(unreachable_since=now)
    look()
    operations.acknowledge_notice(actor, Notice.objects.get().pk, "network is being mended")
    frozen_clock.advance(3600)
    look()
    assert len(titles()) == 1
    Platform.objects.update(unreachable_since=None)
    look()
    frozen_clock.advance(60)
    look()
    assert [title.split(":")[0] for title in titles()] == ["Platform unreachable", "Over"]


def test_demand_that_waits_too_long_is_told_with_the_planners_reason(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    job = builders.make_job(now, "train-7", source="slurm")
    type(job).objects.update(submitted_at=now - timedelta(hours=1), received_at=now)
    Hint.objects.update_or_create(
        job=job, defaults={"code": "STOCKOUT", "reason": "STOCKOUT: v5-8 has none", "since": now}
    )
    look()
    assert titles() == []
    frozen_clock.advance(15 * 60)
    look()
    [told] = NoticeDelivery.objects.all()
    assert told.title == "Demand unsatisfied: 1 job waits longer than 15 min (slurm)"
    assert "train-7" in told.body and "STOCKOUT: v5-8 has none" in told.body
    assert "\nMore in Iris, under Demand.\n" in told.body
    type(job).objects.update(pending_tasks=0)
    look()
    frozen_clock.advance(60)
    look()
    assert titles()[-1].startswith("Over: Demand unsatisfied")


def test_a_source_must_be_away_for_a_while_and_is_one_notice_for_all_instances(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    def ask(trouble: str) -> None:
        for instance in ("a", "b"):
            sample_deployments.make_source("gateway", clock.now(), trouble, instance=instance)

    ask("refused")
    look()
    frozen_clock.advance(25)
    ask("")
    look()
    assert titles() == [] and not Notice.objects.exists()
    for _ in range(7):
        ask("refused")
        look()
        frozen_clock.advance(5)
    assert titles() == ["Gateway unreachable"]


def test_all_loops_that_a_dead_worker_stalls_are_one_notice(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    for name, period in (("autoscaler", 10), ("scheduler", 1), ("workers", 5), ("heartbeat", 2)):
        builders.make_loop(name, now, period)
    for _ in range(30):
        frozen_clock.advance(5)
        look()
    assert titles() == ["All loops stalled"]
    for _ in range(13):
        Loop.objects.update(last_finished_at=clock.now())
        look()
        frozen_clock.advance(5)
    assert titles() == ["All loops stalled", "Over: All loops stalled"]


LOOPS = (("autoscaler", 10), ("scheduler", 1), ("workers", 5), ("manager", 10), ("scaler", 10), ("heartbeat", 2))


def stall_all(look: Look, frozen_clock: FrozenClock, seconds: int) -> None:
    """All loops fall silent together, for so long."""
    for name, period in LOOPS:
        builders.make_loop(name, clock.now(), period)
    for _ in range(seconds // 5):
        frozen_clock.advance(5)
        look()


def recover(look: Look, frozen_clock: FrozenClock, seconds: int, *names: str) -> None:
    """These loops run again, for so long."""
    for _ in range(seconds // 5):
        Loop.objects.filter(name__in=names).update(last_finished_at=clock.now())
        look()
        frozen_clock.advance(5)


def test_loops_that_come_back_later_than_the_heartbeat_are_not_told_one_by_one(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stall_all(look, frozen_clock, 60)
    for number in range(1, len(LOOPS) + 1):
        recover(look, frozen_clock, 15, *[name for name, _ in reversed(LOOPS)][:number])
    assert titles() == ["All loops stalled", "Over: All loops stalled"]


def test_a_loop_that_stays_silent_when_all_others_are_back_is_told_after_a_while(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    stall_all(look, frozen_clock, 60)
    back = [name for name, _ in LOOPS[1:]]
    recover(look, frozen_clock, 110, *back)
    assert "Loop stalled: autoscaler" not in titles()
    recover(look, frozen_clock, 30, *back)
    assert titles() == ["All loops stalled", "Over: All loops stalled", "Loop stalled: autoscaler"]


def test_a_stall_of_all_loops_that_no_message_told_spares_the_single_loops_too(
    channel: NoticeChannel, look: Look, now: datetime, frozen_clock: FrozenClock
) -> None:
    for number in range(3):
        builders.make_marker(builders.make_group(f"g{number}"), now, kind="stockout")
    look()
    stall_all(look, frozen_clock, 50)
    recover(look, frozen_clock, 60, "heartbeat")
    assert all(title.startswith("Stock-out") for title in titles())


def test_a_look_that_finds_nothing_to_store_begins_no_transaction(
    channel: NoticeChannel, look: Look, now: datetime
) -> None:
    """A transaction takes SQLite's one lock for writing as it begins."""
    builders.make_marker(builders.make_group("v5-8"), now, kind="stockout")
    look()
    assert titles() == ["Stock-out: v5-8"]
    with CaptureQueriesContext(connection) as asked:
        assert look() == 0
    assert asked and all(one["sql"].startswith("SELECT") for one in asked)
    assert not any("FOR UPDATE" in one["sql"] for one in asked)
