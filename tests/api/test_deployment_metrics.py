"""What `/metrics` tells of deployments."""

import re

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from iris_web import deployment_metrics
from iris_web.deployment_metrics import DecisionCounts
from iris_web.metrics import Kept
from scaling import clock
from scaling.clock import FrozenClock
from scaling.models import ReplicaDecision
from scaling.testing.sample_deployments import Scene, fleet, make_deployment, make_source, tick

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def still(frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> FrozenClock:
    monkeypatch.setattr(deployment_metrics, "_DECISIONS", DecisionCounts())
    monkeypatch.setattr(Kept, "SECONDS", 0.0)
    return frozen_clock


def scrape() -> dict[tuple[str, ...], float]:
    """(name, label values …) → value."""
    answer = Client().get("/metrics")
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


def test_a_deployment_is_told_by_its_latest_tick() -> None:
    tick(make_deployment("chat", clock.now()), clock.now(), Scene(healthy=4, warming=1, p95=800, rps=44))
    seen = scrape()
    told = {name: seen["iris_deployment_" + name, "chat"] for name in (
        "desired_replicas", "healthy_replicas", "warming_replicas", "min_replicas", "max_replicas", "latency_ratio",
        "rps_ratio", "latency_p95_seconds", "requests_per_second",
    )}  # fmt: skip
    assert list(told.values()) == pytest.approx([7, 4, 1, 1, 10, 1.6, 1.1, 0.8, 44])
    assert seen["iris_deployment_decisions_total", "chat", "ok"] == 1


def test_every_metric_is_named_as_prometheus_wants_it_in_base_units() -> None:
    tick(make_deployment("chat", clock.now()), clock.now(), Scene(healthy=4, p95=800, rps=44))
    told = Client().get("/metrics").content.decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", told, re.MULTILINE))
    assert len(kinds) > 40
    other_units = (
        r"_(milli[a-z]*|micro[a-z]*|nano[a-z]*|ms|minutes?|hours?|days?|percent|kilo|mega|giga|ki?b|mi?b|gi?b)(_|$)"
    )
    assert [name for name in kinds if re.search(other_units, name)] == []
    assert [name for name, kind in kinds.items() if (kind == "counter") != name.endswith("_total")] == []


def test_what_is_unknown_is_left_out_and_what_holds_is_named() -> None:
    tick(make_deployment("chat", clock.now()), clock.now(), Scene(p95=None, rps=None))
    seen = scrape()
    assert seen["iris_deployment_gate", "chat", "metrics_unavailable"] == 1
    assert not any(name.startswith("iris_deployment_latency") for name, *_ in seen)


def test_those_without_a_scaler_and_the_sources_are_told() -> None:
    fleet(clock.now())
    make_source("prometheus", clock.now(), "connection refused")
    seen = scrape()
    counts = [seen[name,] for name in ("iris_deployments", "iris_deployments_unassigned", "iris_deployments_absent")]
    assert counts == [40, 1, 1]
    assert (seen["iris_source_up", "gateway"], seen["iris_source_up", "prometheus"]) == (1, 0)


def test_a_counter_of_decisions_never_goes_down_when_old_ones_are_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DecisionCounts, "UNSETTLED_IDS", 0)
    row = make_deployment("chat", clock.now())
    for _ in range(3):
        tick(row, clock.now(), Scene(rps=36))
    assert scrape()["iris_deployment_decisions_total", "chat", "not_sent"] == 3
    last = ReplicaDecision.objects.order_by("-id").first()
    ReplicaDecision.objects.exclude(pk=last.pk).delete()  # type: ignore[union-attr]
    tick(row, clock.now(), Scene(rps=36))
    assert scrape()["iris_deployment_decisions_total", "chat", "not_sent"] == 4
