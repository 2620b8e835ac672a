"""Silent workers of platforms whose workers report themselves."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from scaling import clock, operations
from scaling.history import Actor
from scaling.loops import workers
from scaling.models import Event, Group, Loop, Slice, Worker
from scaling.silence import SILENT_AFTER_SECONDS
from scaling.testing.builders import make_group, make_job, make_loop, make_platform, make_slice, make_task

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
def real() -> Group:
    platform = make_platform("gcp", kind="gcp", simulated=False)
    return make_group("g", platform=platform, workers_per_slice=2)


def told(worker: Worker) -> tuple[Any, ...]:
    worker.refresh_from_db()
    return worker.state, worker.unknown_since, worker.idle_since


def heard(worker: Worker, moment: datetime) -> None:
    Worker.objects.filter(pk=worker.pk).update(heard_at=moment)


def test_a_worker_silent_for_longer_than_the_threshold_is_unknown_and_its_slice_not_idle(real: Group) -> None:
    row = make_slice(real, NOW, idle=100)
    first, second = row.workers.all()
    heard(second, at(30))
    workers.run(at(SILENT_AFTER_SECONDS))
    assert told(first)[0] == "READY"
    workers.run(at(SILENT_AFTER_SECONDS + 0.1))
    assert told(first) == ("UNKNOWN", at(SILENT_AFTER_SECONDS + 0.1), None)
    assert told(second)[0] == "READY"
    row.refresh_from_db()
    assert row.idle_since is None
    (event,) = Event.objects.filter(topic=f"slice:{row.name}")
    assert event.payload == {"slice": row.name, "worker": first.name, "state": "UNKNOWN"}


def beat(worker: Worker, moment: datetime, active: int = 0, at: datetime | None = None) -> None:
    with clock.frozen(moment):
        operations.heartbeat(Actor.user("ada"), worker.name, active, at)


def test_a_worker_that_is_back_starts_a_whole_new_idle_window(real: Group) -> None:
    row = make_slice(real, NOW, idle=100)
    first, second = row.workers.all()
    heard(second, at(200))
    workers.run(at(200))
    beat(first, at(210))
    workers.run(at(215))
    assert told(first) == ("READY", None, at(210))
    row.refresh_from_db()
    assert row.idle_since == at(210)


def test_a_worker_that_is_back_with_work_is_not_idle(real: Group) -> None:
    row = make_slice(real, NOW, idle=None)
    first, second = row.workers.all()
    make_task(make_job(NOW), first, NOW)
    Worker.objects.filter(pk=second.pk).update(reported_tasks=2)
    workers.run(at(100))
    for worker in (first, second):
        beat(worker, at(110), active=2)
    workers.run(at(111))
    assert [told(worker) for worker in (first, second)] == [("READY", None, None)] * 2


def test_a_worker_whose_clock_is_a_minute_slow_never_falls_silent(real: Group) -> None:
    row = make_slice(real, NOW, idle=100)
    first, second = row.workers.all()
    for seconds in range(0, 300, 5):
        for worker in (first, second):
            beat(worker, at(seconds), at=at(seconds - 60))
        workers.run(at(seconds))
    assert told(first)[0] == "READY"
    assert not Event.objects.filter(kind="worker").exists()


def test_a_worker_that_its_platform_cannot_see_stays_unknown_while_it_reports(real: Group) -> None:
    worker = make_slice(real, NOW, idle=100).workers.all()[0]
    Worker.objects.filter(pk=worker.pk).update(state="UNKNOWN", unknown_since=NOW, idle_since=None)
    beat(worker, at(10))
    workers.run(at(11))
    assert told(worker) == ("UNKNOWN", NOW, None)


def test_when_nothing_changes_nothing_is_written_or_said(real: Group, django_assert_max_num_queries: Any) -> None:
    make_slice(real, NOW)
    workers.run(at(1))
    with django_assert_max_num_queries(8):
        workers.run(at(2))
    assert not Event.objects.exists()


def test_workers_of_a_simulated_cloud_and_those_that_never_reported_cannot_be_silent(real: Group) -> None:
    simulated = make_slice(make_group("s"), NOW)
    never = make_slice(real, NOW)
    Worker.objects.filter(slice=never).update(heard_at=None)
    workers.run(at(10_000))
    assert not Worker.objects.filter(state="UNKNOWN").exists()
    assert Slice.objects.filter(pk__in=[simulated.pk, never.pk], idle_since__isnull=False).count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_cycle_that_holds_the_slice_and_then_its_worker_is_waited_for(real: Group) -> None:
    row = make_slice(real, NOW, idle=100)
    held, asked = threading.Event(), threading.Event()

    def as_a_cycle_does() -> None:
        try:
            with transaction.atomic():
                Slice.objects.select_for_update().get(pk=row.pk)
                held.set()
                asked.wait(5)
                time.sleep(0.3)
                Worker.objects.filter(slice=row).update(not_found_count=1)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        cycle = pool.submit(as_a_cycle_does)
        held.wait(5)
        asked.set()
        workers.run(at(1000))
        cycle.result(10)
    assert set(row.workers.values_list("state", "not_found_count")) == {("UNKNOWN", 1)}


def test_what_iris_itself_did_not_hear_is_no_silence(real: Group) -> None:
    first, second = make_slice(real, NOW, idle=100).workers.all()
    make_loop("workers", NOW, last_finished_at=NOW)
    Worker.objects.filter(pk=second.pk).update(state=Worker.State.UNKNOWN, unknown_since=at(-300))
    back = at(3600)
    workers.run(back)
    assert told(first)[0] == "READY"
    assert told(second)[:2] == ("UNKNOWN", back)
    Loop.objects.update(last_finished_at=at(3640))
    workers.run(at(3600 + SILENT_AFTER_SECONDS + 0.1))
    assert told(first)[0] == "UNKNOWN"
