"""Old rows leave after their days; what is alive, new or an Action stays."""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, repeat

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.models import Task as QueueResult
from pytest_django import Settings

from scaling import clock, feed
from scaling.loops import retention
from scaling.models import (
    Action,
    Cycle,
    Event,
    Group,
    GroupSample,
    GroupStatus,
    Heartbeat,
    Hint,
    Job,
    Marker,
    Platform,
    Slice,
    Task,
    Worker,
)
from scaling.platforms.registry import cloud_books, provisioner

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.fixture
def group() -> Group:
    platform = Platform.objects.create(name="sim")
    return Group.objects.create(name="g", platform=platform, max_slices=4)


def a_job(job_id: str, state: str, finished_at: datetime | None) -> Job:
    return Job.objects.create(
        source="s", job_id=job_id, spec={}, spec_hash="", state=state, submitted_at=ago(90), finished_at=finished_at
    )


def a_slice(group: Group, name: str, state: str, ended_at: datetime | None) -> Slice:
    return Slice.objects.create(
        name=name, group=group, platform=group.platform, state=state, requested_at=ago(90), ended_at=ended_at
    )


def names(model: type[Slice] | type[Heartbeat]) -> set[str]:
    return set(model.objects.values_list("name", flat=True))


def test_cycles_leave_after_fourteen_days_but_the_newest_stays_however_old(group: Group) -> None:
    old, newest = (Cycle.objects.create(started_at=ago(days), status="ok") for days in (40, 30))
    GroupStatus.objects.create(group=group, cycle=old, at=NOW, outcome="AVAILABLE")
    retention.run(NOW)
    assert list(Cycle.objects.all()) == [newest]
    assert GroupStatus.objects.get().cycle is None


def test_the_edge_of_the_window_still_stays() -> None:
    Cycle.objects.create(started_at=ago(14), status="ok")
    Cycle.objects.create(started_at=ago(14) - timedelta(seconds=1), status="ok")
    Cycle.objects.create(started_at=NOW, status="ok")
    retention.run(NOW)
    assert Cycle.objects.count() == 2


def test_finished_jobs_leave_with_their_tasks_and_hints_and_pending_ones_stay() -> None:
    done, waiting = a_job("done", "done", ago(8)), a_job("waiting", "pending", None)
    a_job("fresh", "cancelled", ago(1))
    Task.objects.create(job=done, worker=None, state="done", assigned_at=ago(9))
    Hint.objects.create(job=waiting, code="tier_blocked", reason="tier_blocked", since=ago(60))
    retention.run(NOW)
    assert set(Job.objects.values_list("job_id", flat=True)) == {"waiting", "fresh"}
    assert not Task.objects.exists()
    assert Hint.objects.exists()


def test_ended_slices_leave_with_their_workers_and_live_ones_stay(group: Group) -> None:
    gone = a_slice(group, "gone", "GONE", ago(20))
    a_slice(group, "failed", "FAILED", ago(20))
    a_slice(group, "failed-today", "FAILED", ago(0))
    a_slice(group, "ready", "READY", None)
    a_slice(group, "failed-not-ended", "FAILED", None)
    worker = Worker.objects.create(name="gone-0", slice=gone)
    task = Task.objects.create(job=a_job("long", "running", None), worker=worker, assigned_at=ago(25))
    retention.run(NOW)
    assert names(Slice) == {"failed-today", "ready", "failed-not-ended"}
    task.refresh_from_db()
    assert task.worker is None


def test_open_markers_stay_for_ever(group: Group) -> None:
    for kind, closed_at in (("stockout", None), ("backoff", ago(91)), ("quota", ago(89))):
        Marker.objects.create(group=group, kind=kind, since=ago(200), last_failure_at=ago(200), closed_at=closed_at)
    retention.run(NOW)
    assert set(Marker.objects.values_list("kind", flat=True)) == {"stockout", "quota"}


def test_task_results_heartbeats_and_sessions_leave() -> None:
    for number, days in enumerate((3, 1)):
        QueueResult.objects.create(id=str(number), name="t", func="f", started=ago(days), stopped=ago(days))
    Heartbeat.objects.create(name="queue", at=NOW)
    Heartbeat.objects.create(name="left", at=ago(2))
    Session.objects.create(session_key="old", session_data="", expire_date=ago(2))
    Session.objects.create(session_key="open", session_data="", expire_date=NOW)
    retention.run(NOW)
    assert [row.id for row in QueueResult.objects.all()] == ["1"]
    assert names(Heartbeat) == {"queue"}
    assert [row.session_key for row in Session.objects.all()] == ["open"]


@pytest.mark.django_db(transaction=True)
def test_feed_events_leave_after_two_days() -> None:
    for days in (5, 4, 3, 1):
        Event.objects.create(at=ago(days), topic="groups", kind="changed")
    retention.run(NOW)
    assert Event.objects.filter(kind="changed").count() == 1


def test_actions_never_leave() -> None:
    Action.objects.create(at=ago(10_000), kind="drain")
    retention.run(NOW)
    assert Action.objects.count() == 1


def test_zero_days_keeps_for_ever(settings: Settings) -> None:
    settings.IRIS_KEEP_HEARTBEATS_DAYS = 0
    settings.IRIS_KEEP_FEED_DAYS = 0
    Heartbeat.objects.create(name="left", at=ago(4000))
    for _ in range(3):
        Event.objects.create(at=ago(4000), topic="groups", kind="changed")
    retention.run(NOW)
    assert names(Heartbeat) == {"left"}
    assert Event.objects.filter(kind="changed").count() == 3


def test_a_part_that_fails_is_told_and_stops_no_other(settings: Settings) -> None:
    settings.IRIS_KEEP_FEED_DAYS = 1e99
    Heartbeat.objects.create(name="left", at=ago(9))
    with pytest.raises(RuntimeError, match=r"^Some rows could not be removed \(feed: OverflowError: "):
        retention.run(NOW)
    assert not Heartbeat.objects.exists()


def test_a_long_backlog_leaves_in_batches_and_stops_at_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_ROWS", 10)
    Heartbeat.objects.bulk_create([Heartbeat(name=f"h{n}", at=ago(9)) for n in range(35)])
    monkeypatch.setattr(retention, "BUDGET_SECONDS", 0)
    retention.run(NOW)
    assert Heartbeat.objects.count() == 35
    monkeypatch.setattr(retention, "BUDGET_SECONDS", 10)
    retention.run(NOW)
    assert Heartbeat.objects.count() == 0


def test_the_last_sample_of_a_group_stays_however_old_it_is(group: Group) -> None:
    for days in (30, 20, 7, 1):
        GroupSample.objects.create(group=group, at=ago(days), ready=1, in_flight=0, demand=0, max_slices=4)
    retention.run(NOW)
    assert list(GroupSample.objects.order_by("at").values_list("at", flat=True)) == [ago(20), ago(7), ago(1)]


def test_samples_of_groups_are_looked_for_among_the_old_ones_alone(group: Group) -> None:
    with CaptureQueriesContext(connection) as asked:
        retention.run(NOW)
    (sql,) = [row["sql"] for row in asked if 'FROM "scaling_groupsample"' in row["sql"]]
    assert 'ORDER BY "scaling_groupsample"."at" ASC LIMIT' in sql
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            plan = [step for *_, step in cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]
        assert plan[0].startswith("SEARCH scaling_groupsample USING INDEX") and plan[0].endswith("(at<?)")
        assert not any("SCAN" in step or "TEMP B-TREE" in step for step in plan)


@pytest.mark.django_db(transaction=True)
def test_a_flood_of_events_leaves_time_for_the_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    Event.objects.bulk_create(Event(at=ago(9), topic="cycle", kind="done") for _ in range(3))
    Heartbeat.objects.create(name="web", at=ago(9))
    monkeypatch.setattr(feed, "prune", partial(feed.prune, batch_rows=2))
    monkeypatch.setattr(retention, "BUDGET_SECONDS", 0.4)
    moments = chain([0.0, 0.0, 0.3], repeat(0.3))
    monkeypatch.setattr("time.monotonic", lambda: next(moments))
    retention.run(NOW)
    assert (Event.objects.count(), Heartbeat.objects.count()) == (2, 0)


def test_books_of_a_simulated_cloud_are_kept_short_without_a_demonstration_too(group: Group) -> None:
    books = cloud_books(group.platform)
    for moment in (ago(3), ago(1)):
        with clock.frozen(moment):
            provisioner(group.platform).list_slices("iris-test")
    retention.run(NOW)
    assert [call.arrived_at for call in books.calls()] == [ago(1).timestamp()]
