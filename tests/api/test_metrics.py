"""`/metrics`: who may read it, and that it tells the stored facts in Prometheus' format."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from iris_web import metric_facts, metrics
from iris_web.exposition import exposed, gauge, labelled
from iris_web.metric_facts import ActionCounts
from iris_web.metrics import Kept
from scaling.clock import FrozenClock
from scaling.history import record
from scaling.models import Action, Platform
from scaling.testing.builders import (
    make_cycle,
    make_group,
    make_hint,
    make_installation,
    make_job,
    make_loop,
    make_marker,
    make_slice,
    make_status,
)
from tests.api.conftest import Api, As

pytestmark = pytest.mark.django_db

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def fresh_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_facts, "_ACTIONS", ActionCounts())
    monkeypatch.setattr(Kept, "SECONDS", 0.0)
    monkeypatch.setattr(metrics, "_KEPT", Kept())


def _samples() -> Samples:
    """Every sample by name and labels."""
    text = Client().get("/metrics").content.decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _value(name: str, **labels: str) -> float | None:
    return _samples().get((name, tuple(sorted(labels.items()))))


def test_a_group_tells_what_it_has_left_and_why_it_is_blocked(frozen_clock: FrozenClock) -> None:
    group = make_group('tpu"v5\\8')
    until = frozen_clock() + timedelta(minutes=5)
    make_status(
        group,
        frozen_clock(),
        "STOCKOUT",
        capacity_remaining=3,
        quota_remaining=16,
        backoff_expires_at=until,
        stockout_until=until,
        backoff_skipped_total=7,
    )
    make_slice(group, frozen_clock())
    make_slice(group, frozen_clock(), "BOOTING")
    make_slice(group, frozen_clock(), "GONE")
    name = group.name
    assert _value("iris_group_capacity_remaining", group=name) == 3
    assert _value("iris_group_quota_remaining", group=name) == 16
    assert _value("iris_group_backoff_expires_at_timestamp_seconds", group=name) == until.timestamp()
    assert _value("iris_group_stockout_until_timestamp_seconds", group=name) == until.timestamp()
    assert _value("iris_group_backoff_skipped_total", group=name) == 7
    assert _value("iris_group_outcome", group=name, outcome="STOCKOUT") == 1
    assert _value("iris_group_slices", group=name, state="READY") == 1
    assert _value("iris_group_slices", group=name, state="BOOTING") == 1
    assert _value("iris_group_slices", group=name, state="GONE") is None


def test_what_is_not_known_is_left_out(frozen_clock: FrozenClock) -> None:
    make_status(make_group("g"), frozen_clock())
    assert _value("iris_group_quota_remaining", group="g") is None
    assert _value("iris_cycle_last_duration_seconds") is None


def test_the_last_cycle_tells_how_long_and_how_it_ended(frozen_clock: FrozenClock) -> None:
    make_cycle(frozen_clock(), duration_ms=250, plan_ms=40)
    frozen_clock.advance(5)
    assert _value("iris_cycle_last_duration_seconds") == 0.25
    assert _value("iris_cycle_last_plan_seconds") == 0.04
    assert _value("iris_cycle_last_success") == 1
    assert _value("iris_cycle_last_age_seconds") == 5
    make_cycle(frozen_clock(), "aborted", "503")
    assert _value("iris_cycle_last_success") == 0


def test_demand_markers_loops_and_platforms_are_counted(frozen_clock: FrozenClock) -> None:
    make_installation(halted_since=frozen_clock(), halted_by="ada")
    group = make_group("g")
    make_marker(group, frozen_clock())
    make_marker(group, frozen_clock(), "backoff", failures=1)
    make_hint(make_job(frozen_clock(), tasks=5), frozen_clock(), "tier_blocked")
    make_loop("autoscaler", frozen_clock())
    Platform.objects.update(aborts_in_a_row=2, mode="observe")
    assert _value("iris_jobs", state="pending") == 1
    assert _value("iris_pending_tasks") == 5
    assert _value("iris_oldest_wait_seconds") == 60
    assert _value("iris_job_hints", code="tier_blocked") == 1
    assert _value("iris_markers_open", kind="stockout") == _value("iris_markers_open", kind="backoff") == 1
    assert _value("iris_markers_unacknowledged") == 1, "a brief back-off waits for nobody"
    assert _value("iris_halted") == 1
    assert _value("iris_platform_failed_listings", platform="simulated") == 2
    assert _value("iris_platform_acting", platform="simulated") == 0
    assert _value("iris_loop_lateness_seconds", loop="autoscaler") is not None
    assert _value("iris_loop_skipped_total", loop="autoscaler") == 0
    assert _value("iris_queue_depth") == 0


def test_actions_are_counted_by_kind() -> None:
    record("scale_up")
    record("scale_up")
    record("drain")
    assert _value("iris_actions_total", kind="scale_up") == 2
    assert _value("iris_actions_total", kind="drain") == 1


def test_old_actions_are_counted_once_when_counting_begins(frozen_clock: FrozenClock) -> None:
    record("drain")
    frozen_clock.advance(7200)
    record("scale_up")
    counts = ActionCounts()
    assert counts.counts(frozen_clock()) == {"drain": 1, "scale_up": 1}
    with CaptureQueriesContext(connection) as asked:
        record("drain")
        assert counts.counts(frozen_clock()) == {"drain": 2, "scale_up": 1}
    old = Action.objects.order_by("id").values_list("pk", flat=True)[0]
    assert f"> {old}" in asked.captured_queries[-1]["sql"], "the first is not looked at again"


def test_scrapes_at_the_same_moment_are_told_what_was_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kept, "SECONDS", 60.0)
    record("drain")
    first = Client().get("/metrics").content
    record("drain")
    assert Client().get("/metrics").content == first
    monkeypatch.setattr(metrics, "_KEPT", Kept())
    assert _value("iris_actions_total", kind="drain") == 2


def test_who_waits_too_long_for_anothers_scrape_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kept, "WAIT_SECONDS", 0.01)
    with metrics._KEPT._lock:
        answer = Client().get("/metrics")
    assert answer.status_code == 503 and "still being counted" in answer.json()["detail"]
    assert Client().get("/metrics").status_code == 200


def test_odd_numbers_and_labels_are_written_as_prometheus_reads_them() -> None:
    samples = [(labelled(name='a"b\\c\nd'), float("inf")), ("", float("nan")), (labelled(name="x"), None)]
    (family,) = text_string_to_metric_families(exposed([gauge("odd", "What is odd.", samples)]))
    (first, second) = family.samples
    assert (first.labels, first.value) == ({"name": 'a"b\\c\nd'}, float("inf")) and second.value != second.value


def test_settled_actions_are_not_counted_again(
    frozen_clock: FrozenClock, django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = ActionCounts()
    for minute in range(20):
        record("scale_up")
        assert counts.counts(frozen_clock()) == {"scale_up": minute + 1}
        frozen_clock.advance(60)
    scanned: list[int] = []
    between = ActionCounts._between
    monkeypatch.setattr(
        ActionCounts,
        "_between",
        lambda self, after, upto: (
            scanned.append(Action.objects.filter(pk__gt=after).count())  # type: ignore[func-returns-value]
            or between(self, after, upto)
        ),
    )
    assert counts.counts(frozen_clock()) == {"scale_up": 20}
    assert max(scanned) <= 7


def test_a_queue_that_does_not_answer_hides_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ConnectionError("redis is gone")

    monkeypatch.setattr(metric_facts, "get_broker", fail)
    assert _value("iris_queue_depth") is None
    assert _value("iris_pending_tasks") == 0


def test_every_name_and_unit_follows_the_conventions(frozen_clock: FrozenClock) -> None:
    make_status(make_group("g"), frozen_clock())
    make_cycle(frozen_clock())
    text = Client().get("/metrics").content.decode()
    for family in text_string_to_metric_families(text):
        assert family.name.startswith("iris_")
        assert family.documentation.endswith(".")
        assert family.type in ("gauge", "counter")


def test_this_machine_may_read_them_and_no_other() -> None:
    assert Client().get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="::1").get("/metrics").status_code == 200
    for more in ({"REMOTE_ADDR": "10.1.2.3"}, {"HTTP_X_FORWARDED_FOR": "10.1.2.3"}, {"REMOTE_ADDR": ""}):
        answer = Client(**more).get("/metrics")
        assert answer.status_code == 403
        assert b"iris_" not in answer.content
    assert Client().post("/metrics").status_code == 405


def test_with_a_metrics_token_whoever_presents_it_may(settings: Any) -> None:
    settings.IRIS_METRICS_TOKEN = "scrape-me"
    read = lambda header: Client().get("/metrics", headers={"Authorization": header} if header else {}).status_code  # noqa: E731
    assert read("Bearer scrape-me") == 200
    assert (read(""), read("Bearer scrape"), read("Bearer scrape-mé")) == (401, 401, 401)
    elsewhere = Client(REMOTE_ADDR="10.1.2.3")
    assert elsewhere.get("/metrics", headers={"Authorization": "Bearer scrape-me"}).status_code == 200


def test_in_production_nobody_without_a_token_may_read_them_however_local_it_seems(settings: Any, as_role: As) -> None:
    settings.PRODUCTION = True
    answer = Client().get("/metrics")
    assert answer.status_code == 401
    assert "IRIS_METRICS_TOKEN" in answer.json()["detail"]
    reader = {"Authorization": f"Bearer {as_role('viewer').secret}"}
    assert Client().get("/metrics", headers=reader).status_code == 200


@pytest.mark.parametrize("header", ["Via", "Forwarded", "X-Real-Ip", "X-Forwarded-Proto", "Cf-Connecting-Ip"])
def test_whatever_a_proxy_adds_tells_that_the_client_is_not_this_machine(header: str) -> None:
    assert Client().get("/metrics", headers={header: "x"}).status_code == 403


@pytest.mark.parametrize(("role", "status"), [("viewer", 200), ("operator", 200), ("scheduler", 403), ("worker", 403)])
def test_an_api_token_of_a_reader_may(as_role: As, role: str, status: int) -> None:
    api: Api = as_role(role, "s" if role in ("scheduler", "worker") else "")
    client = Client(REMOTE_ADDR="10.1.2.3")
    assert client.get("/metrics", headers={"Authorization": f"Bearer {api.secret}"}).status_code == status
