"""What `/metrics` tells of deployments: the picture of each one's latest tick, its decisions, and the sources."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, Sum
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from iris_web.pages.deployment_briefs import is_assigned
from scaling import source_views
from scaling.models import Deployment, ReplicaDecision, Scaler
from scaling.operations.deployment_fields import in_force

# Key of a scaler's `latest` → (metric, help); what is unknown is left out, never 0.
_GAUGES: Mapping[str, tuple[str, str]] = {
    "desired": ("desired_replicas", "Replicas that the latest tick desired."),
    "healthy": ("healthy_replicas", "Healthy replicas."),
    "warming": ("warming_replicas", "Replicas that are coming."),
    "unhealthy": ("unhealthy_replicas", "Unhealthy replicas."),
    "failed": ("failed_replicas", "Failed replicas."),
    "p95_ms": ("latency_p95_milliseconds", "p95 latency."),
    "rps": ("requests_per_second", "Requests a second, all replicas together."),
    "latency_ratio": ("latency_ratio", "p95 latency over its target."),
    "rps_ratio": ("rps_ratio", "Requests per healthy replica over their target."),
}
_SETTINGS = {"min_replicas": "The minimum in force.", "max_replicas": "The maximum in force."}


def collect(now: datetime) -> Iterator[Metric]:
    """All metrics of deployments as of `now`."""
    rows = list(
        Deployment.objects.filter(gone_at=None)
        .select_related("scaler")
        .defer("scaler__memory", "scaler__replicas", "scaler__pending")
        .order_by("deployment_id")
    )
    pictures = {row.deployment_id: row.scaler.latest if hasattr(row, "scaler") else {} for row in rows}
    for key, (name, text) in _GAUGES.items():
        yield _gauge(name, text, ["deployment"], (([row], seen.get(key)) for row, seen in pictures.items()))
    for name, text in _SETTINGS.items():
        yield _gauge(name, text, ["deployment"], (([row.deployment_id], in_force(row, name)) for row in rows))
    gates = (([row, seen["gate"]], 1) for row, seen in pictures.items() if seen.get("gate"))
    yield _gauge("gate", "1 for the gate that held the latest tick.", ["deployment", "gate"], gates)
    yield from _fleet(now)
    decisions = CounterMetricFamily(
        "iris_deployment_decisions", "Stored decisions, by what came back.", labels=["deployment", "outcome"]
    )
    for (deployment, outcome), number in sorted(_DECISIONS.counts().items()):
        decisions.add_metric([deployment, outcome], number)
    yield decisions


def _gauge(name: str, text: str, labels: list[str], samples: Iterable[tuple[list[str], Any]]) -> Metric:
    family = GaugeMetricFamily(f"iris_deployment_{name}", text, labels=labels)
    for values, value in samples:
        if value is not None:
            family.add_metric(values, float(value))
    return family


def _fleet(now: datetime) -> Iterator[Metric]:
    totals = Deployment.objects.filter(gone_at=None).aggregate(
        all=Count("pk"), held=Count("pk", filter=is_assigned(now)), absent=Count("pk", filter=~Q(absent_since=None))
    )
    untold = Scaler.objects.aggregate(number=Sum("untold"))["number"] or 0
    for name, text, value in (
        ("iris_deployments", "Deployments that the Gateway lists, or did.", totals["all"]),
        ("iris_deployments_unassigned", "Deployments that no instance scales.", totals["all"] - totals["held"]),
        ("iris_deployments_absent", "Deployments that the Gateway left out and Iris holds.", totals["absent"]),
    ):
        yield GaugeMetricFamily(name, text, value=value)
    yield CounterMetricFamily("iris_decisions_untold", "Decisions worth storing that were only counted.", value=untold)
    up = GaugeMetricFamily("iris_source_up", "1 while a source answers every instance well.", labels=["source"])
    for name, source in sorted(source_views.worst().items()):
        up.add_metric([name], float(not source.trouble))
    yield up


class DecisionCounts:
    """Decisions by deployment and outcome since this process began to count, without counting them all each time.

    Old ones are pruned: what was counted is remembered, so that a counter never goes down. Ids may commit out of
    order, so the latest few are counted anew each time.
    """

    UNSETTLED_IDS = 5_000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._upto = 0
        self._settled: Counter[tuple[str, str]] = Counter()

    def counts(self) -> Counter[tuple[str, str]]:
        with self._lock:
            last = ReplicaDecision.objects.aggregate(last=Max("pk"))["last"] or 0
            if last < self._upto:  # another database, or one that was restored
                self._upto, self._settled = 0, Counter()
            settled = max(self._upto, last - self.UNSETTLED_IDS)
            self._settled += self._between(self._upto, settled)
            self._upto = settled
            return self._settled + self._between(settled, last)

    def _between(self, after: int, upto: int) -> Counter[tuple[str, str]]:
        rows = ReplicaDecision.objects.filter(pk__gt=after, pk__lte=upto).order_by()
        found = rows.values_list("deployment__deployment_id", "outcome").annotate(number=Count("pk"))
        return Counter({(deployment, outcome or "not_sent"): number for deployment, outcome, number in found})


_DECISIONS = DecisionCounts()
