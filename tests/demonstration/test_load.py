"""The demonstration's seed and loop on stored rows."""

from datetime import UTC, datetime, timedelta

import pytest

from scaling import demonstration
from scaling.clock import FrozenClock
from scaling.demonstration import load
from scaling.demonstration.weather import LASTS_SECONDS
from scaling.models import Action, Group, Installation, Job, Platform, QuotaPool
from scaling.platforms.registry import cloud_books
from scaling.platforms.simulated import RuleKind
from scaling.testing.builders import make_job

pytestmark = pytest.mark.django_db

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def seeded(frozen_clock: FrozenClock) -> Platform:
    demonstration.seed(START)
    Installation.objects.update(created_at=START)
    platform = Platform.objects.get()
    with cloud_books(platform).store.write() as transaction:
        transaction.run("DELETE FROM rules WHERE kind = ?", ["stockout"])
    return platform


def go(clock: FrozenClock, seconds: int, step: int = 1) -> None:
    for _ in range(0, seconds, step):
        load.run(clock.advance(step))


def test_seeding_again_changes_nothing_and_keeps_what_people_edited(seeded: Platform) -> None:
    Group.objects.filter(name="cpu-16-us-central1-a").update(max_slices=2)
    QuotaPool.objects.filter(name="v5p/us-east5-a").update(limit=9)
    Platform.objects.update(mode="observe")
    demonstration.seed(START + timedelta(hours=1))
    assert Group.objects.get(name="cpu-16-us-central1-a").max_slices == 2
    assert QuotaPool.objects.get(name="v5p/us-east5-a").limit == 9
    assert Platform.objects.get().mode == "observe"
    assert Group.objects.count() == 13
    assert Installation.objects.get().demonstration
    quotas = [rule for rule in cloud_books(seeded).rules() if rule.kind is RuleKind.QUOTA]
    assert [(rule.pool, rule.amount) for rule in quotas] == [("v6e/europe-west4-b", 24)]


def test_jobs_keep_arriving_through_the_operation_that_schedulers_use(frozen_clock: FrozenClock) -> None:
    go(frozen_clock, 120)
    jobs = Job.objects.all()
    assert 10 < jobs.count() < 60
    assert set(jobs.values_list("source", flat=True)) == {"demonstration"}
    assert set(Action.objects.values_list("kind", "actor_kind", "actor", "target")) == {
        ("demand", "system", "demonstration", "source demonstration")
    }
    assert Action.objects.count() <= 120 / load.LIST_EVERY_SECONDS + 3
    assert jobs.filter(run_seconds__isnull=True).count() == 0


def test_a_second_that_runs_twice_or_is_missed_does_no_harm(frozen_clock: FrozenClock) -> None:
    go(frozen_clock, 30)
    once = set(Job.objects.values_list("job_id", flat=True))
    load.run(frozen_clock())
    assert set(Job.objects.values_list("job_id", flat=True)) == once
    frozen_clock.advance(20)
    go(frozen_clock, 10)
    assert Job.objects.count() > len(once)
    assert not Job.objects.filter(state="cancelled").exists()


def test_the_backlog_is_bounded_and_what_waits_in_vain_is_withdrawn(frozen_clock: FrozenClock) -> None:
    go(frozen_clock, 600, step=5)
    waiting = Job.objects.filter(state="pending")
    assert 0 < waiting.count() <= load.MOST_WAITING + 10
    assert Job.objects.filter(state="cancelled").count() > 10
    oldest = waiting.order_by("submitted_at")[0]
    assert frozen_clock() - oldest.submitted_at <= load.PATIENCE + timedelta(seconds=30)


def test_running_jobs_and_those_of_other_sources_are_left_alone(frozen_clock: FrozenClock) -> None:
    theirs = make_job(START, source="slurm", submitted_at=START - timedelta(hours=9))
    go(frozen_clock, 20)
    mine = Job.objects.filter(source="demonstration").order_by("submitted_at")[0]
    Job.objects.filter(pk=mine.pk).update(state="running", running_tasks=1, pending_tasks=mine.tasks - 1)
    go(frozen_clock, 400, step=10)
    for job, state in ((theirs, "pending"), (mine, "running")):
        job.refresh_from_db()
        assert job.state == state


def test_finished_jobs_leave_after_half_an_hour(frozen_clock: FrozenClock) -> None:
    old, new = (
        make_job(START, source="demonstration", state="done", finished_at=START - timedelta(minutes=minutes))
        for minutes in (31, 5)
    )
    go(frozen_clock, load.CHORES_EVERY_SECONDS)
    assert not Job.objects.filter(pk=old.pk).exists()
    assert Job.objects.filter(pk=new.pk).exists()


def test_each_stock_out_is_scripted_once_and_met_by_a_job_that_wants_to_grow_there(
    frozen_clock: FrozenClock, seeded: Platform
) -> None:
    go(frozen_clock, 70)
    scripted = [rule for rule in cloud_books(seeded).rules() if rule.kind is RuleKind.STOCKOUT]
    assert [(rule.zone, rule.ends_at - rule.starts_at) for rule in scripted if rule.ends_at] == [
        ("us-central1-a", LASTS_SECONDS)
    ]
    assert Job.objects.filter(job_id__startswith="sweep-pinned").count() == 1


def test_without_its_platform_the_loop_rests() -> None:
    Group.objects.all().delete()
    Platform.objects.all().delete()
    load.run(START)
    assert not Job.objects.exists()
